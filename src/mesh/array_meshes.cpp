// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Meshes of cells of one kind from arrays of the first rank, and meshes of rotors.

#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

using Points = std::vector<std::array<double, 3>>;

/// Returns this rank's block of the mesh given by the first rank's arrays. The first rank's block is the whole mesh;
/// the blocks of other ranks are empty. Collective.
template <std::size_t N>
MeshData mesh_of_arrays(MPI_Comm comm, CellKind kind, const Points& vertices,
                        const std::vector<std::array<int, N>>& cells) {
  MeshData data;
  MeshData::LowerCells* const lower = kind == CellKind::tetrahedron ? nullptr : &data.lower(kind);
  std::int64_t& num_cells = lower ? lower->num : data.num_cells;
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    data.num_vertices = static_cast<std::int64_t>(vertices.size());
    num_cells = static_cast<std::int64_t>(cells.size());
    for (const auto& x : vertices) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
    std::vector<std::int64_t>& nodes = lower ? lower->nodes : data.cells;
    for (const auto& cell : cells) nodes.insert(nodes.end(), cell.begin(), cell.end());
    if (lower && cells.empty())
      throw InputError(std::string("the mesh has no ") + name_of(kind) + "; give at least one cell");
    data.num_unused_vertices = lower ? validate_lower_cells(data, kind, {}) : validate_cells(data, {});
  });
  std::int64_t counts[3] = {data.num_vertices, num_cells, data.num_unused_vertices};
  DIFFSIM_MPI(MPI_Bcast(counts, 3, MPI_INT64_T, 0, comm));
  data.num_vertices = counts[0];
  num_cells = counts[1];
  data.num_unused_vertices = counts[2];
  if (!is_first_rank(comm)) {
    data.first_vertex = data.num_vertices;
    (lower ? lower->first : data.first_cell) = num_cells;
  }
  return data;
}

}  // namespace

MeshData solid_mesh(MPI_Comm comm, const Points& vertices, const std::vector<std::array<int, 4>>& tets) {
  return mesh_of_arrays(comm, CellKind::tetrahedron, vertices, tets);
}

MeshData surface_mesh(MPI_Comm comm, const Points& vertices, const std::vector<std::array<int, 3>>& triangles) {
  return mesh_of_arrays(comm, CellKind::triangle, vertices, triangles);
}

MeshData segment_mesh(MPI_Comm comm, const Points& vertices, const std::vector<std::array<int, 2>>& segments) {
  return mesh_of_arrays(comm, CellKind::segment, vertices, segments);
}

MeshData rotor_mesh(MPI_Comm comm) {
  MeshData data;
  MeshData::LowerCells& points = data.lower(CellKind::point);
  data.num_vertices = points.num = points.num_directors = 1;
  if (is_first_rank(comm)) {
    data.coordinates = {1.0, 0.0, 0.0};
    points.nodes = points.directors = {0};
  } else {
    data.first_vertex = points.first = 1;
  }
  return data;
}

}  // namespace diffsim
