// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace diffsim::checkpoint {

/// Minimisation of sums of two sequences a and b. Computes, for l = 2, 3, … in this order, the minimum of a(m) + b(l -
/// m) over 0 < m < l and the smallest m that attains the minimum. The caller adds the values a(l) and b(l) after the
/// minimum for l is computed, because a(l) and b(l) may depend on this minimum. A block of consecutive values of m is
/// skipped if the sum of the smallest a and the smallest b of the block shows that the block cannot improve the result.
/// Skipping is exact because rounded addition is monotone.
class LeastSum {
 public:
  /// Creates an object for sequences with at most `most` values.
  explicit LeastSum(std::size_t most)
      : most_(most),
        a_(most + block, never),
        reversed_(most + block, never),
        least_a_(most / block + 1, never),
        least_b_(most / block + 1, never) {}

  /// Appends a value to each of the two sequences. The first call sets a(1) and b(1).
  void add(double a, double b) {
    ++length_;
    a_[length_] = a;
    reversed_[most_ - length_] = b;
    double &least_a = least_a_[length_ / block], &least_b = least_b_[length_ / block];
    least_a = std::min(least_a, a);
    least_b = std::min(least_b, b);
  }

  /// Returns the minimum of a(m) + b(l - m) over 0 < m < l, and the smallest m that attains the minimum, where l - 1 is
  /// the number of calls of `add` so far. Returns infinity and 0 if no sum is finite.
  std::pair<double, int> next() {
    least_ = never;
    const std::size_t l = length_ + 1, before = place_;
    place_ = 0;
    look_at(before - before % block);  // this block probably contains a small sum, so other blocks are skipped
    for (std::size_t m = 0; m < l; m += block) {
      // The values b(l - m), …, b(l - m - block + 1) are in the blocks `first` and `last`.
      const std::size_t last = (l - m) / block, first = l - m < block ? 0 : (l - m - block + 1) / block;
      const double bound = least_a_[m / block] + std::min(least_b_[first], least_b_[std::min(last, length_ / block)]);
      if (bound < least_ || (bound == least_ && m < place_)) look_at(m);
    }
    return {least_, static_cast<int>(place_)};
  }

 private:
  static constexpr std::size_t block = 64, width = 8;
  using Several [[gnu::vector_size(sizeof(double) * width)]] = double;

  static constexpr double never = std::numeric_limits<double>::infinity();

  /// Updates the minimum with the sums a(i) + b(l - i) of the block of indices i that begins with `m`.
  void look_at(std::size_t m) {
    const double *const a = &a_[m], *const b = &reversed_[most_ - length_ - 1 + m];  // b(l - m), b(l - m - 1), …
    Several lanes = Several{} + never;
    for (std::size_t i = 0; i < block; i += width) {
      Several x, y;
      __builtin_memcpy(&x, a + i, sizeof(x));
      __builtin_memcpy(&y, b + i, sizeof(y));
      const Several sum = x + y;
      lanes = sum < lanes ? sum : lanes;
    }
    double here = lanes[0];
    for (std::size_t i = 1; i < width; ++i) here = std::min(here, lanes[i]);
    if (here > least_ || here == never || (here == least_ && m >= place_)) return;
    least_ = here;
    place_ = m;
    while (a_[place_] + b[place_ - m] != least_) ++place_;
  }

  std::size_t most_, length_ = 0, place_ = 0;
  double least_ = never;
  std::vector<double> a_, reversed_;       // a_[m] = a(m), reversed_[most_ - m] = b(m); infinity if not yet added
  std::vector<double> least_a_, least_b_;  // smallest a(m), b(m) of each block of m
};

}  // namespace diffsim::checkpoint
