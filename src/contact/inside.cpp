// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/inside.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact {

double winding(const std::vector<double>& places, const std::vector<std::array<int, 3>>& triangles,
               const std::array<double, 3>& p) {
  double sum = 0.0;
  for (const auto& triangle : triangles) {
    Vec3<double> r[3];
    double length[3];
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t c = 0; c < 3; ++c)
        r[k][static_cast<int>(c)] = places[3 * static_cast<std::size_t>(triangle[k]) + c] - p[c];
      length[k] = std::sqrt(dot(r[k], r[k]));
    }
    const double volume = dot(r[0], cross(r[1], r[2]));
    const double scale = length[0] * length[1] * length[2] + dot(r[0], r[1]) * length[2] + dot(r[1], r[2]) * length[0] +
                         dot(r[2], r[0]) * length[1];
    sum += 2.0 * std::atan2(volume, scale);
  }
  return sum / (4.0 * std::numbers::pi);
}

std::vector<int> witnesses(const std::vector<int>& elements, int size, int num_vertices) {
  std::vector<int> parent(static_cast<std::size_t>(num_vertices));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[static_cast<std::size_t>(v)] != v) {
      int& up = parent[static_cast<std::size_t>(v)];
      up = parent[static_cast<std::size_t>(up)];
      v = up;
    }
    return v;
  };
  const auto step = static_cast<std::size_t>(size);
  for (std::size_t begin = 0; begin + step <= elements.size(); begin += step)
    for (std::size_t k = 1; k < step; ++k) {
      const int a = root(elements[begin]), b = root(elements[begin + k]);
      parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  std::vector<int> result;
  for (const int v : elements)
    if (root(v) == v) result.push_back(v);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace diffsim::contact
