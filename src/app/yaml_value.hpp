// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/nearest_word.hpp"
#include "io/fields.hpp"

namespace diffsim::app {

/// Location in a scene file. Each value that is parsed from a scene file is stored with the value's location, so that
/// error messages can contain the location.
struct Place {
  std::shared_ptr<const std::string> file;
  long line = 0;
  std::string key;  ///< path of keys: `boundary[1].region`

  /// Throws InputError with the message `FILE:LINE: KEY: WHAT`, where WHAT is the argument `what`.
  [[noreturn]] void fail(const std::string& what) const;
};

/// Node of a parsed YAML scene, before the node is converted to numbers or words.
struct Value {
  enum class Kind { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  std::string text;  ///< text of a scalar
  bool quoted = false;
  Place place;
  std::vector<std::string> keys;  ///< mapping: keys of `items`
  std::vector<Value> items;       ///< entries of a YAML list or mapping

  bool is_list() const { return kind == Kind::list; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_scalar() const { return kind == Kind::scalar; }
};

/// Parses a YAML document that consists of one mapping. Throws InputError if the text has a syntax error, several
/// documents or a duplicate key, or if the document is not a mapping.
Value parse_yaml(const std::string& text, const std::string& file);

/// Returns a text for the shape of an array, for example "[3, 2]", or "a number" for the shape [] of a single number.
std::string shape_text(const Shape& shape);

// Conversions of a value. Each function throws InputError, with a description of what is expected, if the value cannot
// be converted.
double to_number(const Value& value);  ///< converts a YAML value to a finite number
/// Converts a YAML value to a finite number or, for the words .inf and -.inf, to an infinite number.
double to_extended(const Value& value);
/// Converts a YAML value to a number > 0. Example of an error message of `to_positive`: "-5 is not positive; give a
/// number above 0, in Pa, or the word adaptive".
///
/// `unit`: unit of the number for the error message, or empty if the number has no unit. `instead`: description, for
/// the error message, of an alternative to a number, for example "the word adaptive"; empty if a number is the only
/// possibility.
double to_positive(const Value& value, const std::string& unit, const std::string& instead = {});
/// Converts a YAML value to a number ≥ 0. Example of an error message of `to_non_negative`: "-5 is negative; give a
/// number, 0 or more, in Pa".
double to_non_negative(const Value& value, const std::string& unit);
/// Returns "a number above 0, in UNIT", or "a number above 0" if `unit` is empty or "1".
std::string number_above_zero(const std::string& unit);
/// Returns "a number, 0 or more, in UNIT", or "a number, 0 or more" if `unit` is empty or "1".
std::string number_from_zero(const std::string& unit);
int to_integer(const Value& value, int smallest, int largest = std::numeric_limits<int>::max());
std::int64_t to_integer64(const Value& value, std::int64_t smallest);
bool to_boolean(const Value& value);
std::string to_text(const Value& value);  ///< converts a YAML value to a text that is not empty
std::array<double, 3> to_vector(const Value& value);
/// Converts a YAML value to a rectangular array; a single number has the shape [].
Array to_array(const Value& value);
/// Returns the text of `value` if this text is one of the words `available`; otherwise throws InputError. If the text
/// of `value` is one of the words `planned`, throws an InputError that says that the choice is not available in this
/// version of the program.
std::string to_choice(const Value& value, const std::vector<std::string>& available,
                      const std::vector<std::string>& planned = {});
/// Converts a YAML value to a value of an enumeration. `names`: words for the enumeration's values 0, 1, …
template <class Enum, std::size_t N>
Enum to_enum(const Value& value, const std::array<const char*, N>& names) {
  const std::string name = to_choice(value, {names.begin(), names.end()});
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}
/// Returns the items of a YAML list; a YAML value that is not a list is treated as a list with one item.
std::vector<const Value*> to_items(const Value& value);

/// Returns a text that contains the given words, separated by commas: "a, b, c".
std::string join(const std::vector<std::string>& words);
/// Returns the shortest text from which the number `value` can be read back exactly.
std::string format_number(double value);

/// YAML mapping whose keys are checked against a list of known keys.
class Mapping {
 public:
  /// Checks the keys of the YAML mapping `value`. Throws InputError if `value` is not a mapping, or if a key is not in
  /// the list `known`; the message of the InputError suggests the nearest known key. If a key of the mapping is in the
  /// list `planned`, throws an InputError that says that the key is not available in this version of the program.
  Mapping(const Value& value, std::vector<std::string> known, const std::vector<std::string>& planned = {});

  const Place& place() const { return value_->place; }
  /// Returns the value of a key, or nullptr if the mapping does not have the key. Throws InputError if the mapping has
  /// the key `key` without a value.
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Returns the value of a key of the mapping. Throws InputError if the mapping does not have the key `key`. `what`:
  /// description of the missing value for the error message.
  const Value& need(std::string_view key, const std::string& what) const;
  /// Returns the location of `key` in the scene file. If the mapping does not have the key `key`, the returned location
  /// consists of the mapping's line and of the path that the key would have.
  Place place_of(std::string_view key) const;
  /// Returns the only one of the keys `keys` that the mapping contains. Throws InputError if the mapping contains none
  /// or several of the keys `keys`.
  std::string one_of(const std::vector<std::string>& keys) const;

 private:
  const Value* value_;
};

}  // namespace diffsim::app
