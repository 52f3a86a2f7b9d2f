// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact {

using Quad = std::array<Vec3<double>, 4>;

/// Generator of the four points of a pair, from generic to degenerate.
class QuadSource {
 public:
  explicit QuadSource(std::uint64_t seed) : random_(seed) {}

  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  int integer(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Vec3<double> point(double size) { return {{uniform(-size, size), uniform(-size, size), uniform(-size, size)}}; }

  Quad generic() { return {point(1.0), point(1.0), point(1.0), point(1.0)}; }
  /// Returns points of a small grid: coincident points, parallel and crossing edges, flat triangles, right and obtuse
  /// angles.
  Quad grid(int half) {
    Quad x;
    for (auto& p : x)
      for (int c = 0; c < 3; ++c) p[c] = integer(-half, half);
    return x;
  }
  /// Returns points of a small grid, each displaced by up to `off`.
  Quad near_grid(int half, double off) {
    Quad x = grid(half);
    for (auto& p : x)
      for (int c = 0; c < 3; ++c) p[c] += off * uniform(-1.0, 1.0);
    return x;
  }
  /// Returns points that are nearly flat in one direction, of small or large extent.
  Quad stretched() {
    Quad x = integer(0, 1) ? generic() : near_grid(2, 1e-6);
    const Vec3<double> stretch = {{1.0, std::pow(10.0, uniform(-5.0, 0.0)), std::pow(10.0, uniform(-5.0, 0.0))}};
    const double size = std::pow(2.0, integer(-20, 20));
    for (auto& p : x)
      for (int c = 0; c < 3; ++c) p[c] = size * p[c] * stretch[c];
    return x;
  }
  Quad any() {
    switch (integer(0, 4)) {
      case 0:
        return generic();
      case 1:
        return grid(1);
      case 2:
        return grid(3);
      case 3:
        return near_grid(1, std::pow(10.0, uniform(-12.0, -3.0)));
      default:
        return stretched();
    }
  }

 private:
  std::mt19937_64 random_;
};

/// Returns the largest distance between two of the points.
inline double extent(const Quad& x) {
  double largest = 0.0;
  for (const auto& a : x)
    for (const auto& b : x) largest = std::max(largest, std::sqrt(dot(a - b, a - b)));
  return largest;
}

}  // namespace diffsim::contact
