// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/ranks.hpp"
#include "diffsim/mesh/box.hpp"
#include "diffsim/mesh/elevate.hpp"
#include "diffsim/mesh/join_bodies.hpp"
#include "diffsim/mesh/placement.hpp"

namespace diffsim::testing {

/// A box as one of several bodies, with its lowest corner at `corner`.
struct BodyBox {
  std::string name;
  std::array<double, 3> size;
  std::array<int, 3> cells;
  std::array<double, 3> corner{};
};

/// The mesh of a few boxes. Collective.
inline MeshData mesh_of_boxes(MPI_Comm comm, const std::vector<BodyBox>& boxes, int order = 1) {
  std::vector<NamedMesh> bodies;
  for (const BodyBox& box : boxes) {
    MeshData data = box_mesh(box.size, box.cells, rank_of(comm), num_ranks(comm));
    if (order == 2) elevate(comm, data);
    Placement placement;
    placement.translate = box.corner;
    place(data, placement);
    bodies.push_back({box.name, std::move(data)});
  }
  return join_bodies(comm, std::move(bodies));
}

}  // namespace diffsim::testing
