// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diffsim::vtu {

/// Type of the numbers in an array of a VTK XML file.
struct NumberType {
  const char* name;
  char kind;         ///< `i`: signed integer, `u`: unsigned integer, `f`: floating-point number
  std::size_t size;  ///< bytes per number
};

/// Returns the NumberType with the given name (such as `Float64`), or nullptr if the name is unknown.
const NumberType* find_number_type(std::string_view name);

/// Encoding of the binary arrays of a VTK XML file.
struct Encoding {
  bool swap_bytes = false;
  std::size_t header_bytes = 4;  ///< size (bytes) of each integer in the headers of binary arrays: 4 or 8
  bool zlib = false;
};

/// XML element DataArray of a VTK XML file, before the array's values are decoded.
struct Array {
  enum class Format { text, base64, raw };

  std::string file;
  long line = 0;
  std::string name;
  const NumberType* type = nullptr;
  Format format = Format::text;
  Encoding encoding;
  /// Contents of the XML element or, for an appended array, the file's appended data from the array's first byte on.
  std::string_view data;

  [[noreturn]] void fail(const std::string& what) const;
  /// Returns the decoded values of the array. Throws InputError unless the array has exactly `count` values. The
  /// function integers() also throws InputError if the array has a floating-point type.
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
