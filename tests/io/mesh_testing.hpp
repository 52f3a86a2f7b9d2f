// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/file_order.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/mesh/construction.hpp"
#include "io_testing.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::testing_io {

/// Returns this rank's block of a box of 3 x 2 x 2 bricks, with an additional last vertex at (9, 9, 0.1) that no cell
/// uses.
inline MeshData box_with_unused_vertex(MPI_Comm comm) {
  int me = 0, ranks = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  MeshData data = box_mesh({1.5, 1.0, 1.0}, {3, 2, 2}, me, ranks);
  ++data.num_vertices;
  data.num_unused_vertices = 1;
  if (me == ranks - 1) data.coordinates.insert(data.coordinates.end(), {9.0, 9.0, 0.1});
  return data;
}

inline std::unique_ptr<TetrahedralMesh> small_mesh(MPI_Comm comm = MPI_COMM_WORLD, int order = 1) {
  MeshData data = box_with_unused_vertex(comm);
  if (order == 2) elevate(comm, data);
  return std::make_unique<TetrahedralMesh>(comm, data);
}

/// Returns component c of a field at vertex `file_index` in frame k. The value does not depend on the owner of the
/// vertex.
inline double field_value(int k, std::int64_t file_index, int c) {
  return std::sin(1.0 + 0.37 * k + 1.7 * static_cast<double>(file_index) + 0.9 * c);
}

/// Returns the state of frame k: positions at all local vertices, velocities (half of field_value) at owned vertices.
inline State state_of(const TetrahedralMesh& mesh, int k) {
  State state;
  state.add(Field("positions", mesh.vertex_entities(), 3));
  state.add(Field("velocities", mesh.owned_vertex_entities(), 3));
  for (Field& field : state.fields()) {
    std::vector<double> values(field.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (field.name() == "positions" ? 1.0 : 0.5) *
                  field_value(k, mesh.vertex_order().file_index()[i / 3], static_cast<int>(i % 3));
    field.from_host(values);
  }
  return state;
}

}  // namespace diffsim::testing_io
