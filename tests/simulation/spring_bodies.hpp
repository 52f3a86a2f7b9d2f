// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/scene.hpp"

/// Meshes of segments for tests of mass–spring systems.
namespace diffsim::testing_spring {

/// Mesh of segments; the first rank has the whole mesh before the partition.
inline MeshData segments(MPI_Comm comm, const std::vector<std::array<double, 3>>& points,
                         const std::vector<std::array<std::int64_t, 2>>& ends) {
  MeshData data;
  MeshData::LowerCells& cells = data.lower(CellKind::segment);
  data.num_vertices = static_cast<std::int64_t>(points.size());
  cells.num = static_cast<std::int64_t>(ends.size());
  if (!is_first_rank(comm)) {
    data.first_vertex = data.num_vertices;
    cells.first = cells.num;
    return data;
  }
  for (const auto& x : points) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
  for (const auto& pair : ends) cells.nodes.insert(cells.nodes.end(), pair.begin(), pair.end());
  return data;
}

/// Line of n segments from one point to another. A parabola, equal to `sag` in the middle, is added to the positions.
inline MeshData line(MPI_Comm comm, int n, const std::array<double, 3>& from, const std::array<double, 3>& to,
                     const std::array<double, 3>& sag = {}) {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (std::int64_t i = 0; i <= n; ++i) {
    const double s = static_cast<double>(i) / n;
    std::array<double, 3> x{};
    for (std::size_t c = 0; c < 3; ++c) x[c] = from[c] + s * (to[c] - from[c]) + 4.0 * s * (1.0 - s) * sag[c];
    points.push_back(x);
    if (i > 0) ends.push_back({i - 1, i});
  }
  return segments(comm, points, ends);
}

/// Line of n segments of different lengths, curved in space. Every third segment has the opposite orientation.
inline MeshData curved_line(MPI_Comm comm, int n) {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (std::int64_t i = 0; i <= n; ++i) {
    const double s = static_cast<double>(i) + 0.2 * std::sin(1.9 * static_cast<double>(i));
    points.push_back({0.05 * s, 0.004 * s * s, 0.02 * std::sin(0.8 * s)});
    if (i > 0) ends.push_back(i % 3 == 0 ? std::array{i, i - 1} : std::array{i - 1, i});
  }
  return segments(comm, points, ends);
}

/// Net of nx · ny quadrilaterals with one diagonal each, slightly bent so that no two springs are parallel.
inline MeshData net(MPI_Comm comm, int nx, int ny, double width) {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) {
      const std::int64_t here = j * (nx + 1) + i;
      points.push_back({width * i, width * (0.02 * i * j + 0.03 * j * j), width * (j + 0.05 * i * i)});
      if (i < nx) ends.push_back({here, here + 1});
      if (j < ny) ends.push_back({here, here + nx + 1});
      if (i < nx && j < ny) ends.push_back({here, here + nx + 2});
    }
  return segments(comm, points, ends);
}

}  // namespace diffsim::testing_spring
