// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/triangle_blocks.hpp"

#include <algorithm>
#include <vector>

#include "diffsim/core/runtime.hpp"

namespace diffsim {

MeshData triangle_blocks(MPI_Comm comm, const TriangleMesh& mesh) {
  MeshData data;
  MeshData::LowerCells& cells = data.lower(CellKind::triangle);
  data.num_vertices = static_cast<std::int64_t>(mesh.vertices.size());
  cells.num = static_cast<std::int64_t>(mesh.triangles.size());
  std::vector<char> used(mesh.vertices.size(), 0);
  for (const auto& corners : mesh.triangles)
    for (const int v : corners) used[static_cast<std::size_t>(v)] = 1;
  data.num_unused_vertices = std::count(used.begin(), used.end(), 0);
  if (!is_first_rank(comm)) {
    data.first_vertex = data.num_vertices;
    cells.first = cells.num;
    return data;
  }
  for (const auto& x : mesh.vertices) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
  for (const auto& corners : mesh.triangles) cells.nodes.insert(cells.nodes.end(), corners.begin(), corners.end());
  return data;
}

}  // namespace diffsim
