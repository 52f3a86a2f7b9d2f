// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::testing_mesh {

/// One body of several: a box with its lowest corner at `corner`.
struct BodyBox {
  std::string name;
  std::array<double, 3> size;
  std::array<int, 3> cells;
  std::array<double, 3> corner{};
};

/// Returns the mesh of one box. Collective.
inline MeshData box_body(MPI_Comm comm, const BodyBox& box, int order = 1) {
  MeshData data = box_mesh(box.size, box.cells, rank_of(comm), num_ranks(comm));
  if (order == 2) elevate(comm, data);
  Placement placement;
  placement.translate = box.corner;
  place(data, placement);
  return data;
}

/// Returns the mesh of several boxes. Collective.
inline MeshData mesh_of_boxes(MPI_Comm comm, const std::vector<BodyBox>& boxes, int order = 1) {
  std::vector<NamedMesh> bodies;
  for (const BodyBox& box : boxes) bodies.push_back({box.name, box_body(comm, box, order)});
  return join_bodies(comm, std::move(bodies));
}

/// Returns 2 · cells[0] · cells[1] triangles over [0, size] at the given height, with normals upwards. The triangles in
/// the lower half of the x range are in the region "left".
inline MeshData grid_of_triangles(std::array<int, 2> cells, std::array<double, 2> size, double height) {
  MeshData data;
  const int nx = cells[0], ny = cells[1];
  data.num_vertices = std::int64_t{nx + 1} * (ny + 1);
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i)
      data.coordinates.insert(data.coordinates.end(), {size[0] * i / nx, size[1] * j / ny, height});
  MeshData::LowerCells& triangles = data.lower(CellKind::triangle);
  triangles.num = std::int64_t{2} * nx * ny;
  data.regions.push_back({"left", 2, 1});
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const std::int64_t a = j * (nx + 1) + i, b = a + 1, c = a + nx + 1, d = c + 1;
      if (2 * (i + 1) < nx)
        for (const std::int64_t t : {0, 1})
          triangles.regions.push_back({static_cast<std::int64_t>(triangles.nodes.size() / 3) + t, 0});
      triangles.nodes.insert(triangles.nodes.end(), {a, b, d, a, d, c});
    }
  return data;
}

/// Returns the mesh with all blocks on the first rank, as serial readers return it.
inline MeshData whole_on_first_rank(MPI_Comm comm, MeshData data) {
  if (rank_of(comm) == 0) return data;
  MeshData rest;
  rest.num_vertices = rest.first_vertex = data.num_vertices;
  rest.num_cells = rest.first_cell = data.num_cells;
  rest.regions = data.regions;
  for (const CellKind kind : lower_kinds) rest.lower(kind).num = rest.lower(kind).first = data.lower(kind).num;
  return rest;
}

}  // namespace diffsim::testing_mesh
