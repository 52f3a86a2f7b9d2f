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

/// Location in a scene file. All data parsed from a scene are stored with their location, so that later errors can
/// report the location.
struct Place {
  std::shared_ptr<const std::string> file;
  long line = 0;
  std::string key;  ///< path of keys: `boundary[1].region`

  /// Throws InputError with the message `FILE:LINE: KEY: what`.
  [[noreturn]] void fail(const std::string& what) const;
};

/// Node of a parsed YAML scene, before its conversion to numbers or words.
struct Value {
  enum class Kind { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  std::string text;  ///< text of a scalar
  bool quoted = false;
  Place place;
  std::vector<std::string> keys;  ///< mapping: keys of `items`
  std::vector<Value> items;       ///< entries of a list or mapping

  bool is_list() const { return kind == Kind::list; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_scalar() const { return kind == Kind::scalar; }
};

/// Parses a YAML document that consists of one mapping. Throws InputError for syntax errors, several documents and
/// duplicate keys.
Value parse_yaml(const std::string& text, const std::string& file);

/// Returns the text of a shape, for example "[3, 2]"; "a number" for the empty shape.
std::string shape_text(const Shape& shape);

// Conversions of a value. Each function throws InputError, with a description of what is expected, if the value cannot
// be converted.
double to_number(const Value& value);    ///< finite number
double to_extended(const Value& value);  ///< finite number, .inf or -.inf
/// Converts to a number > 0. Example of an error message: "-5 is not positive; give a number above 0, in Pa, or the
/// word adaptive". `unit` is empty if the number has no unit. `instead` describes an alternative to a number, or is
/// empty.
double to_positive(const Value& value, const std::string& unit, const std::string& instead = {});
/// Converts to a number ≥ 0. Example of an error message: "-5 is negative; give a number, 0 or more, in Pa".
double to_non_negative(const Value& value, const std::string& unit);
/// Returns a text such as "a number above 0, in Pa"; `unit` is empty or "1" if there is no unit.
std::string number_above_zero(const std::string& unit);
/// Returns a text such as "a number, 0 or more, in Pa"; `unit` is empty or "1" if there is no unit.
std::string number_from_zero(const std::string& unit);
int to_integer(const Value& value, int smallest, int largest = std::numeric_limits<int>::max());
std::int64_t to_integer64(const Value& value, std::int64_t smallest);
bool to_boolean(const Value& value);
std::string to_text(const Value& value);  ///< text that is not empty
std::array<double, 3> to_vector(const Value& value);
Array to_array(const Value& value);  ///< rectangular array; a single number has the shape []
/// Returns the text of `value` if it is one of the words `available`. If the text is one of the words `planned`, the
/// error says that this choice is not available in this version.
std::string to_choice(const Value& value, const std::vector<std::string>& available,
                      const std::vector<std::string>& planned = {});
/// Converts to a value of an enumeration. `names`: names of the values 0, 1, …
template <class Enum, std::size_t N>
Enum to_enum(const Value& value, const std::array<const char*, N>& names) {
  const std::string name = to_choice(value, {names.begin(), names.end()});
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}
/// Returns the items of a list; any other value is treated as a list with one item.
std::vector<const Value*> to_items(const Value& value);

/// Returns the words, separated by commas: "a, b, c".
std::string join(const std::vector<std::string>& words);
/// Returns the shortest text from which the number can be read back exactly.
std::string format_number(double value);

/// Mapping with a known set of keys.
class Mapping {
 public:
  /// Checks the keys of `value`. Throws InputError if `value` is not a mapping, or if a key is not in `known`; the
  /// message suggests the nearest known key. For a key in `planned`, the message says that the key is not available in
  /// this version.
  Mapping(const Value& value, std::vector<std::string> known, const std::vector<std::string>& planned = {});

  const Place& place() const { return value_->place; }
  /// Returns the value of a key; nullptr if the key is missing. Throws InputError if the key has no value.
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Returns the value of a key. Throws InputError if the key is missing; `what` describes the missing value.
  const Value& need(std::string_view key, const std::string& what) const;
  /// Returns the location of `key`. If the key is missing, the location has the line of the mapping and the path that
  /// the key would have.
  Place place_of(std::string_view key) const;
  /// Returns the only one of `keys` that the mapping contains. Throws InputError if none of `keys`, or more than one
  /// key, is given.
  std::string one_of(const std::vector<std::string>& keys) const;

 private:
  const Value* value_;
};

}  // namespace diffsim::app
