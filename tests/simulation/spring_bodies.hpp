// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "diffsim/core/ranks.hpp"
#include "diffsim/simulation/solver.hpp"

/// Meshes of segments for tests of mass–spring systems.
namespace diffsim::testing_spring {

/// A mesh of segments, whole on the first rank.
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

/// A net of nx · ny meshes with one diagonal each, a little bent, so that no two springs are parallel.
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
