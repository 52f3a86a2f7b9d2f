// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diffsim::vtu {

/// A number type of the format.
struct NumberType {
  const char* name;
  char kind;  ///< i: signed, u: unsigned, f: floating-point
  std::size_t size;
};

/// Null for a name that is none.
const NumberType* find_number_type(std::string_view name);

/// How a file writes its binary arrays.
struct Encoding {
  bool swap_bytes = false;
  std::size_t header_bytes = 4;
  bool zlib = false;
};

/// A DataArray as it stands in the file.
struct Array {
  enum class Format { text, base64, raw };

  std::string file;
  long line = 0;
  std::string name;
  const NumberType* type = nullptr;
  Format format = Format::text;
  Encoding encoding;
  std::string_view data;  ///< text: all of it; else from where it begins, up to where the file's data end

  [[noreturn]] void fail(const std::string& what) const;
  /// The array's numbers, of which there must be `count`; floating-point ones are no integers.
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
