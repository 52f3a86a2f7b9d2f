// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/vtu_array.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <type_traits>

#include "diffsim/core/error.hpp"
#include "mesh/mesh_text.hpp"

namespace diffsim::vtu {
namespace {

constexpr NumberType number_types[] = {{"Int8", 'i', 1},    {"UInt8", 'u', 1},  {"Int16", 'i', 2}, {"UInt16", 'u', 2},
                                       {"Int32", 'i', 4},   {"UInt32", 'u', 4}, {"Int64", 'i', 8}, {"UInt64", 'u', 8},
                                       {"Float32", 'f', 4}, {"Float64", 'f', 8}};

constexpr char get_again[] = "; save the file again";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Returns the number that is stored at `bytes` in the byte order of this processor.
template <class Number>
Number number_in(const char* bytes) {
  Number value;
  std::memcpy(&value, bytes, sizeof(Number));
  return value;
}

/// Returns the value of a base64 digit, or -1 if `c` is not a base64 digit.
int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Sequential reader of the decoded bytes of an array. In base64, padding ends a group of four characters but not the
/// data, because some writers encode the header and the data separately, and other writers encode them together.
class ByteSource {
 public:
  explicit ByteSource(const Array& array) : array_(array), data_(array.data) {}

  /// Returns an upper bound of the number of remaining bytes.
  std::size_t bytes_left() const {
    return array_.format == Array::Format::raw ? data_.size() - place_ : num_held_ + (data_.size() - place_) / 4 * 3;
  }

  void read(char* bytes, std::size_t count) {
    if (count > bytes_left()) end_too_early();
    if (array_.format == Array::Format::raw) {
      std::memcpy(bytes, data_.data() + place_, count);
      place_ += count;
      return;
    }
    while (count > 0) {
      if (num_held_ == 0) read_group();
      const std::size_t taken = std::min(count, num_held_);
      std::copy_n(held_.begin() + static_cast<std::ptrdiff_t>(first_held_), taken, bytes);
      first_held_ += taken;
      num_held_ -= taken;
      bytes += taken;
      count -= taken;
    }
  }

  std::uint64_t header() {
    char bytes[8] = {};
    const std::size_t size = array_.encoding.header_bytes;
    read(bytes, size);
    if (array_.encoding.swap_bytes) std::reverse(bytes, bytes + size);
    if (size == 8) return number_in<std::uint64_t>(bytes);
    return number_in<std::uint32_t>(bytes);
  }

 private:
  [[noreturn]] void end_too_early() const { array_.fail("its data end too early" + std::string(get_again)); }

  /// Decodes the next four non-blank characters into one, two or three bytes.
  void read_group() {
    unsigned bits = 0;
    int digits = 0, padding = 0;
    while (digits + padding < 4) {
      while (place_ < data_.size() && is_blank(data_[place_])) ++place_;
      if (place_ == data_.size()) end_too_early();
      const char c = data_[place_++];
      const int digit = digit_of(c);
      if (c == '=' && digits >= 2) {
        ++padding;
      } else if (digit < 0 || padding > 0) {
        array_.fail(in_quotes({&c, 1}) + " does not belong into base64" + get_again);
      } else {
        ++digits;
      }
      bits = bits << 6 | static_cast<unsigned>(std::max(digit, 0));
    }
    first_held_ = 0;
    num_held_ = static_cast<std::size_t>(3 - padding);
    for (std::size_t i = 0; i < 3; ++i) held_[i] = static_cast<char>(bits >> (16 - 8 * i) & 0xff);
  }

  const Array& array_;
  std::string_view data_;
  std::size_t place_ = 0;
  std::array<char, 3> held_{};
  std::size_t first_held_ = 0, num_held_ = 0;
};

/// Decompresses a zlib block of `compressed` bytes and appends the `size` resulting bytes to `bytes`.
void inflate_block(const Array& array, ByteSource& source, std::uint64_t compressed, std::uint64_t size,
                   std::string& bytes) {
  if (compressed > source.bytes_left()) array.fail("a compressed block ends too early" + std::string(get_again));
  if (size / 1100 > compressed) array.fail("a compressed block cannot be so short" + std::string(get_again));
  std::string packed(compressed, '\0');
  source.read(packed.data(), packed.size());
  const std::size_t begin = bytes.size();
  bytes.resize(begin + size);
  auto length = static_cast<uLongf>(size);
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data() + begin), &length,
                              reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (code != Z_OK || length != size) array.fail("zlib cannot unpack a block of its data" + std::string(get_again));
}

}  // namespace

const NumberType* find_number_type(std::string_view name) {
  for (const NumberType& type : number_types)
    if (name == type.name) return &type;
  return nullptr;
}

void Array::fail(const std::string& what) const {
  throw InputError(file, line, "", "array " + in_quotes(name) + ": " + what);
}

/// Returns the decoded and decompressed bytes of the array, in the file's byte order. Throws InputError unless the
/// array has exactly `count` bytes.
std::string Array::bytes(std::size_t count) const {
  const auto wrong_size = [&](std::uint64_t size) {
    fail("has " + std::to_string(size) + " bytes, and should have " + std::to_string(count) + ", for " +
         std::to_string(count / type->size) + " numbers of type " + type->name + get_again);
  };
  ByteSource source(*this);
  std::string bytes;
  if (!encoding.zlib) {
    const std::uint64_t size = source.header();
    if (size != count) wrong_size(size);
    if (count > source.bytes_left()) fail("its data end too early" + std::string(get_again));
    bytes.resize(count);
    source.read(bytes.data(), count);
    return bytes;
  }
  const std::uint64_t blocks = source.header(), block_size = source.header(), rest = source.header();
  constexpr std::uint64_t largest_block = std::uint64_t{1} << 40;
  if (blocks > source.bytes_left() / encoding.header_bytes || block_size > largest_block || rest > block_size)
    fail("its header of compressed blocks makes no sense" + std::string(get_again));
  const std::uint64_t last = rest == 0 ? block_size : rest, size = blocks == 0 ? 0 : (blocks - 1) * block_size + last;
  if (size != count) wrong_size(size);
  std::vector<std::uint64_t> compressed(blocks);
  for (std::uint64_t& length : compressed) length = source.header();
  for (std::uint64_t b = 0; b < blocks; ++b)
    inflate_block(*this, source, compressed[b], b + 1 < blocks ? block_size : last, bytes);
  return bytes;
}

template <class Value>
std::vector<Value> Array::text_numbers(std::size_t count) const {
  std::vector<Value> values;
  const char *cursor = data.data(), *const end = cursor + data.size();
  while (true) {
    while (cursor != end && is_blank(*cursor)) ++cursor;
    if (cursor == end) break;
    if (values.size() == count) fail("has more than " + std::to_string(count) + " numbers" + get_again);
    Value value{};
    const auto [next, code] = std::from_chars(cursor, end, value);
    if (code != std::errc() || (next != end && !is_blank(*next))) {
      const std::string_view word(cursor, static_cast<std::size_t>(std::find_if(cursor, end, is_blank) - cursor));
      fail(in_quotes(word) + " is not a number of type " + type->name + "; correct it");
    }
    values.push_back(value);
    cursor = next;
  }
  if (values.size() != count)
    fail("has " + std::to_string(values.size()) + " numbers, and should have " + std::to_string(count) + get_again);
  return values;
}

template <class Value>
std::vector<Value> Array::numbers(std::size_t count) const {
  if (format == Format::text) return text_numbers<Value>(count);
  if (count == 0) return {};
  if (count > std::numeric_limits<std::size_t>::max() / type->size) fail("cannot have that many numbers");
  std::string packed = bytes(count * type->size);
  std::vector<Value> values(count);
  const auto convert = [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < count; ++i) {
      char* const bytes = packed.data() + i * sizeof(Stored);
      if (encoding.swap_bytes) std::reverse(bytes, bytes + sizeof(Stored));
      const auto value = number_in<Stored>(bytes);
      if constexpr (std::is_same_v<Stored, std::uint64_t> && std::is_same_v<Value, std::int64_t>)
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
          fail("number " + std::to_string(value) + " is too large");
      values[i] = static_cast<Value>(value);
    }
  };
  const bool is_signed = type->kind == 'i';
  if (type->kind == 'f')
    type->size == 4 ? convert(float{}) : convert(double{});
  else if (type->size == 1)
    is_signed ? convert(std::int8_t{}) : convert(std::uint8_t{});
  else if (type->size == 2)
    is_signed ? convert(std::int16_t{}) : convert(std::uint16_t{});
  else if (type->size == 4)
    is_signed ? convert(std::int32_t{}) : convert(std::uint32_t{});
  else
    is_signed ? convert(std::int64_t{}) : convert(std::uint64_t{});
  return values;
}

std::vector<double> Array::reals(std::size_t count) const { return numbers<double>(count); }

std::vector<std::int64_t> Array::integers(std::size_t count) const {
  if (type->kind == 'f') fail("is of type " + std::string(type->name) + ", and should be of integers" + get_again);
  return numbers<std::int64_t>(count);
}

}  // namespace diffsim::vtu
