// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/mix_bits.hpp"

namespace diffsim {

/// Checksum Σ_i mix(bits(x_i) xor mix(first + i)) mod 2⁶⁴ of the values x_i = values[i], i < `count`, of at most 8
/// bytes each. `mix` is mix_bits(), a bijective hash of 64-bit integers, and bits(x) is the binary representation of x.
/// `first` is the index of x_0 in the whole array.
///
/// The indices first + i are those of the whole array, so the sum of the ranks' checksums does not depend on the
/// distribution of the array over the ranks. A single damaged value always changes the checksum; several damaged values
/// remain undetected with probability 2⁻⁶⁴.
template <class T>
std::uint64_t checksum(const T* values, std::size_t count, std::uint64_t first) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, values + i, sizeof(T));
    sum += mix_bits(bits ^ mix_bits(first + i));
  }
  return sum;
}

/// Word sum of the part of a file that begins at `offset`, which must be a multiple of 4. The word sum is Σ mix(w xor
/// mix(i)) mod 2⁶⁴ over the 4-byte words w ≠ 0 of the part, where i is the index of the word in the file, and `mix` is
/// mix_bits(). An incomplete last word is padded with zeros. The word sum of a file is the sum of the word sums of its
/// parts. Words that are 0, such as bytes that were never written, contribute nothing.
inline std::uint64_t word_sum(const void* data, std::uint64_t size, std::uint64_t offset) {
  const char* bytes = static_cast<const char*>(data);
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < size; at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + at, size - at < 4 ? size - at : 4);
    if (word != 0) sum += mix_bits(word ^ mix_bits((offset + at) / 4));
  }
  return sum;
}

}  // namespace diffsim
