// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diffsim/core/nearest_word.hpp"
#include "diffsim/io/fields.hpp"

namespace diffsim::app {

/// Where something stands in a scene. Everything made from a scene keeps it, so that errors found later can name it.
struct Place {
  std::shared_ptr<const std::string> file;
  long line = 0;
  std::string key;  ///< as a path: `boundary[1].region`

  /// Throws InputError `FILE:LINE: KEY: what`.
  [[noreturn]] void fail(const std::string& what) const;
};

/// A piece of a scene as it is written.
struct Value {
  enum class Kind { nothing, scalar, list, mapping };
  Kind kind = Kind::nothing;
  std::string text;  ///< scalar
  bool quoted = false;
  Place place;
  std::vector<std::string> keys;  ///< mapping: of `items`
  std::vector<Value> items;       ///< list, mapping

  bool is_list() const { return kind == Kind::list; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_scalar() const { return kind == Kind::scalar; }
};

/// A YAML document of one mapping. Throws InputError for bad syntax, several documents, a key given twice.
Value parse_yaml(const std::string& text, const std::string& file);

/// "[3, 2]"; "a number" for the shape of one.
std::string shape_text(const Shape& shape);

// Meaning of a value. Each function throws InputError, saying what is expected, where it means something else.
double to_number(const Value& value);    ///< finite
double to_extended(const Value& value);  ///< finite, .inf or -.inf
/// "-5 is not positive; give a number above 0, in Pa, or the word adaptive". `unit`: empty where there is none;
/// `instead`: what else may stand there, empty where nothing may.
double to_positive(const Value& value, const std::string& unit, const std::string& instead = {});
/// "-5 is negative; give a number, 0 or more, in Pa".
double to_non_negative(const Value& value, const std::string& unit);
/// "a number above 0, in Pa"; `unit` is empty, or "1", where there is none.
std::string number_above_zero(const std::string& unit);
/// "a number, 0 or more, in Pa".
std::string number_from_zero(const std::string& unit);
int to_integer(const Value& value, int smallest, int largest = std::numeric_limits<int>::max());
std::int64_t to_integer64(const Value& value, std::int64_t smallest);
bool to_boolean(const Value& value);
std::string to_text(const Value& value);  ///< not empty
std::array<double, 3> to_vector(const Value& value);
Array to_array(const Value& value);  ///< rectangular; a lone number has the shape []
/// A word of `available`; one of `planned` is told apart from one that nobody knows.
std::string to_choice(const Value& value, const std::vector<std::string>& available,
                      const std::vector<std::string>& planned = {});
/// A list's items; any other value is a list of itself.
std::vector<const Value*> to_items(const Value& value);

/// "a, b, c".
std::string join(const std::vector<std::string>& words);
/// As short as it can be read back.
std::string format_number(double value);

/// A mapping whose keys are known.
class Mapping {
 public:
  /// Throws InputError for a value that is no mapping and for a key that is in none of the lists, naming the nearest.
  /// A key of `planned` is refused as not available in this version.
  Mapping(const Value& value, std::vector<std::string> known, const std::vector<std::string>& planned = {});

  const Place& place() const { return value_->place; }
  /// nullptr where the key is not given. Throws InputError where it is given without a value.
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Throws InputError where the key is not given; `what` says what it needs.
  const Value& need(std::string_view key, const std::string& what) const;
  /// Where `key` stands, or would stand.
  Place place_of(std::string_view key) const;
  /// Of several keys, the one that is given; InputError for none or more than one.
  std::string one_of(const std::vector<std::string>& keys) const;

 private:
  const Value* value_;
};

}  // namespace diffsim::app
