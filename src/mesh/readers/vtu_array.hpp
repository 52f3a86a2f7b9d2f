// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diffsim::vtu {

/// Number type of the VTK XML format.
struct NumberType {
  const char* name;
  char kind;         ///< i: signed, u: unsigned, f: floating-point
  std::size_t size;  ///< bytes per number
};

/// Returns the number type with the given name, or nullptr if the name is unknown.
const NumberType* find_number_type(std::string_view name);

/// Encoding of the binary arrays of a file.
struct Encoding {
  bool swap_bytes = false;
  std::size_t header_bytes = 4;  ///< size of each integer in the headers of binary arrays: 4 or 8
  bool zlib = false;
};

/// XML element DataArray of a file, before decoding.
struct Array {
  enum class Format { text, base64, raw };

  std::string file;
  long line = 0;
  std::string name;
  const NumberType* type = nullptr;
  Format format = Format::text;
  Encoding encoding;
  std::string_view data;  ///< contents of the XML element, or appended data from the first byte of the array on

  [[noreturn]] void fail(const std::string& what) const;
  /// Returns the decoded values of the array. Throws InputError unless the array has exactly `count` values. integers()
  /// also throws InputError for a floating-point type.
  std::vector<double> reals(std::size_t count) const;
  std::vector<std::int64_t> integers(std::size_t count) const;

 private:
  template <class Value>
  std::vector<Value> numbers(std::size_t count) const;
  template <class Value>
  std::vector<Value> text_numbers(std::size_t count) const;
  std::string bytes(std::size_t count) const;
};

}  // namespace diffsim::vtu
