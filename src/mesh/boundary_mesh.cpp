// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/boundary_mesh.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/file_order.hpp"
#include "core/free_elements.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/face_neighbours.hpp"

namespace diffsim {
namespace {

/// Returns the number of vertices of the whole mesh that are not in `nodes` on any rank. Collective.
std::int64_t count_unused(MPI_Comm comm, const MeshData& mesh, std::vector<std::int64_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const int size = static_cast<int>(nodes.size());
  std::vector<char> used(static_cast<std::size_t>(mesh.block_vertices()), 0);
  FileOrder(comm, mesh.num_vertices, nodes, size, static_cast<int>(used.size()))
      .to_file(std::vector<char>(nodes.size(), 1), 1, used);
  std::int64_t unused = std::count(used.begin(), used.end(), 0);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &unused, 1, MPI_INT64_T, MPI_SUM, comm));
  return unused;
}

}  // namespace

MeshData boundary_mesh(MPI_Comm comm, MeshData data) {
  if (data.order != 1) throw Error("boundary_mesh: the mesh has second-order cells; read it with order 1");
  const std::vector<PetscInt> neighbours =
      face_neighbours(comm, {data.cells.begin(), data.cells.end()}, data.num_vertices);
  MeshData::LowerCells triangles;
  std::vector<std::int64_t> triangle_of(neighbours.size(), -1);  // [block cells, 4]: index of the triangle, or -1
  for (std::size_t face = 0; face < neighbours.size(); ++face) {
    if (neighbours[face] != no_cell) continue;
    triangle_of[face] = static_cast<std::int64_t>(triangles.nodes.size() / 3);
    for (std::size_t k = 0; k < 3; ++k)
      triangles.nodes.push_back(data.cells[face / 4 * 4 + static_cast<std::size_t>(face_nodes[face % 4][k])]);
  }
  const auto mine = static_cast<std::int64_t>(triangles.nodes.size() / 3);
  DIFFSIM_MPI(MPI_Exscan(&mine, &triangles.first, 1, MPI_INT64_T, MPI_SUM, comm));
  if (is_first_rank(comm)) triangles.first = 0;
  DIFFSIM_MPI(MPI_Allreduce(&mine, &triangles.num, 1, MPI_INT64_T, MPI_SUM, comm));
  for (const MeshData::FaceRegion& entry : data.face_regions) {
    const auto face = static_cast<std::size_t>(4 * (entry.cell - data.first_cell) + entry.face);
    if (triangle_of[face] >= 0) triangles.regions.push_back({triangles.first + triangle_of[face], entry.region});
  }
  data.num_unused_vertices = count_unused(comm, data, triangles.nodes);
  data.lower(CellKind::triangle) = std::move(triangles);
  data.num_cells = data.first_cell = 0;
  free_elements(data.cells);
  free_elements(data.cell_regions);
  free_elements(data.face_regions);
  return data;
}

}  // namespace diffsim
