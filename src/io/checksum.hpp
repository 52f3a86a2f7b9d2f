// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/mix_bits.hpp"

namespace diffsim {

/// Returns the checksum Σ_i mix_bits(bits(x_i) xor mix_bits(first + i)) mod 2⁶⁴ of the values x_i = values[i], 0 ≤ i <
/// `count`, where bits(x) is the binary representation of x, which has at most 8 bytes. mix_bits() is a bijective hash
/// function of 64-bit integers. The argument `first` is the index of values[0] in a distributed array, of which
/// `values` is the part of one rank.
///
/// The hash of a value depends on the index of the value in the whole array, so the sum of the ranks' checksums does
/// not depend on the distribution of the array over the ranks. A single damaged value always changes the checksum of an
/// array; several damaged values remain undetected with probability 2⁻⁶⁴.
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

/// Returns the word sum of a part of a file: Σ mix_bits(w xor mix_bits(i)) mod 2⁶⁴ over the 4-byte words w ≠ 0 of the
/// part, where i is the index of the word w in the file. `data`: bytes of a part of the file; `size`: number of these
/// bytes. `offset`: index, in the file, of the first byte of `data`, a multiple of 4. An incomplete last 4-byte word of
/// a file is padded with zeros. The word sum of a file is the sum of the word sums of its parts; words that are 0, such
/// as bytes that were never written, add nothing to the sum.
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
