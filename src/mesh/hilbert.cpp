// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/hilbert.hpp"

#include <algorithm>
#include <utility>

namespace diffsim {

constexpr int bits_per_axis = 21;

std::uint64_t hilbert_index(std::array<std::uint32_t, 3> x) {
  // Undo the reflections and axis exchanges of the curve in each octant, from the coarsest level to the finest.
  for (std::uint32_t q = 1u << (bits_per_axis - 1); q > 1; q >>= 1) {
    const std::uint32_t low = q - 1;
    for (std::uint32_t& coordinate : x) {
      if (coordinate & q) {
        x[0] ^= low;
      } else {
        const std::uint32_t swap = (x[0] ^ coordinate) & low;
        x[0] ^= swap;
        coordinate ^= swap;
      }
    }
  }
  // Convert to the Gray code.
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t flip = 0;
  for (std::uint32_t q = 1u << (bits_per_axis - 1); q > 1; q >>= 1)
    if (x[2] & q) flip ^= q - 1;
  for (std::uint32_t& coordinate : x) coordinate ^= flip;
  std::uint64_t index = 0;
  for (int bit = bits_per_axis - 1; bit >= 0; --bit)
    for (std::uint32_t coordinate : x) index = (index << 1) | ((coordinate >> bit) & 1u);
  return index;
}

std::vector<int> hilbert_order(const std::vector<double>& points) {
  const std::size_t n = points.size() / 3;
  std::array<double, 3> low{}, scale{};
  for (std::size_t c = 0; c < 3 && n > 0; ++c) {
    double high = low[c] = points[c];
    for (std::size_t i = 0; i < n; ++i) {
      low[c] = std::min(low[c], points[3 * i + c]);
      high = std::max(high, points[3 * i + c]);
    }
    scale[c] = high - low[c];
  }
  // A common scale for the three axes makes the grid cells of the curve cubic.
  const double extent = std::max({scale[0], scale[1], scale[2]});
  const double factor = extent > 0.0 ? ((1u << bits_per_axis) - 1) / extent : 0.0;
  std::vector<std::pair<std::uint64_t, int>> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<std::uint32_t, 3> place{};
    for (std::size_t c = 0; c < 3; ++c) place[c] = static_cast<std::uint32_t>((points[3 * i + c] - low[c]) * factor);
    keys[i] = {hilbert_index(place), static_cast<int>(i)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = keys[i].second;
  return order;
}

}  // namespace diffsim
