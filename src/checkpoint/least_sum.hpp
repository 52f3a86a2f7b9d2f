// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace diffsim::checkpoint {

/// Minimiser of the sums a(m) + b(l - m) over the index m, 0 < m < l, for two sequences a and b. Computes the minimum
/// of the sums a(m) + b(l - m), and the smallest m that attains the minimum, for l = 2, 3, … in ascending order. The
/// caller adds the values a(l) and b(l) of the sequences a and b after the minimum of a(m) + b(l - m) over m is
/// computed, because a(l) and b(l) may depend on this minimum.
///
/// A block of consecutive indices m is skipped if the sum of the smallest a(m) and the smallest b(l - m) of the block
/// shows that the block cannot change the result: the minimum and the smallest m that attains the minimum. Skipping
/// blocks is exact, because rounded addition of floating-point numbers is monotone.
class LeastSum {
 public:
  /// Creates a LeastSum for two sequences with at most `most` values each.
  explicit LeastSum(std::size_t most)
      : most_(most),
        a_(most + block, never),
        reversed_(most + block, never),
        least_a_(most / block + 1, never),
        least_b_(most / block + 1, never) {}

  /// Appends the value `a` to the sequence a, and the value `b` to the sequence b. The first call of `add` sets the
  /// values a(1) and b(1) of the sequences.
  void add(double a, double b) {
    ++length_;
    a_[length_] = a;
    reversed_[most_ - length_] = b;
    double &least_a = least_a_[length_ / block], &least_b = least_b_[length_ / block];
    least_a = std::min(least_a, a);
    least_b = std::min(least_b, b);
  }

  /// Returns the minimum of a(m) + b(l - m) over 0 < m < l, and the smallest m that attains the minimum, where l - 1 is
  /// the number of calls of `add` so far. Returns infinity and 0 if no sum a(m) + b(l - m) is finite.
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

  /// Updates the minimum of the sums a(i) + b(l - i) with the sums of the block of indices i that begins with `m`.
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
