// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/radix_sort.hpp"

#include <algorithm>
#include <utility>

#include "diffsim/core/runtime.hpp"

namespace diffsim::contact {
namespace {

constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;

/// One pass of a stable radix sort: sorts by the digit of `digit_bits` bits at `shift`. The keys are divided into
/// chunks.
struct Pass {
  DeviceArray<std::uint64_t> keys, sorted_keys;
  DeviceArray<int> values, sorted_values;
  // Array [digits, chunks]: `count` stores the number of keys of each chunk with each digit; `sum` replaces this number
  // by the index in `sorted_keys` at which `move` stores the next of these keys.
  DeviceArray<int> places;
  int size, chunk, chunks, shift;

  KOKKOS_INLINE_FUNCTION int digit(int i) const { return static_cast<int>((keys(i) >> shift) & (digits - 1)); }
  KOKKOS_INLINE_FUNCTION int end(int c) const { return (c + 1) * chunk < size ? (c + 1) * chunk : size; }
};

/// Counts the keys of each chunk with each digit.
void count(const Pass& pass) {
  Kokkos::parallel_for(
      "diffsim::contact::sort_count", Range(0, pass.chunks), KOKKOS_LAMBDA(int c) {
        for (int d = 0; d < digits; ++d) pass.places(d * pass.chunks + c) = 0;
        for (int i = c * pass.chunk; i < pass.end(c); ++i) ++pass.places(pass.digit(i) * pass.chunks + c);
      });
}

/// Replaces the counts by their exclusive sums, in the order of the digits and, for each digit, of the chunks.
void sum(const Pass& pass) {
  const auto places = pass.places;
  Kokkos::parallel_scan(
      "diffsim::contact::sort_sum", Range(0, digits * pass.chunks), KOKKOS_LAMBDA(int i, int& total, bool final) {
        const int here = places(i);
        if (final) places(i) = total;
        total += here;
      });
}

/// Moves each key and its value to its location after this pass. Each chunk is moved in order, so the sort is stable.
void move(const Pass& pass) {
  Kokkos::parallel_for(
      "diffsim::contact::sort_move", Range(0, pass.chunks), KOKKOS_LAMBDA(int c) {
        for (int i = c * pass.chunk; i < pass.end(c); ++i) {
          const int place = pass.places(pass.digit(i) * pass.chunks + c)++;
          pass.sorted_keys(place) = pass.keys(i);
          pass.sorted_values(place) = pass.values(i);
        }
      });
}

}  // namespace

void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits, ArrayPool& pool) {
  const int size = static_cast<int>(keys.size());
  if (size < 2) return;
  Pass pass;
  pass.keys = keys;
  pass.values = values;
  pass.sorted_keys = pool.take<std::uint64_t>("diffsim::contact::sorted_keys", keys.size());
  pass.sorted_values = pool.take<int>("diffsim::contact::sorted_values", keys.size());
  pass.size = size;
  pass.chunk = std::max(1024, size / std::max(1, concurrency()) + 1);
  pass.chunks = (size + pass.chunk - 1) / pass.chunk;
  pass.places = pool.take<int>("diffsim::contact::sort_places", static_cast<std::size_t>(digits * pass.chunks));
  for (pass.shift = 0; pass.shift < bits; pass.shift += digit_bits) {
    count(pass);
    sum(pass);
    move(pass);
    std::swap(pass.keys, pass.sorted_keys);
    std::swap(pass.values, pass.sorted_values);
  }
  Kokkos::fence();
  keys = pass.keys;
  values = pass.values;
}

}  // namespace diffsim::contact
