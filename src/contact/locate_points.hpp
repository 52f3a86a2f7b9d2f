// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "diffsim/core/point_map.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Stencil of a point in a cell, with the point's place in a list.
struct LocatedPoint {
  std::size_t point;
  PointStencil stencil;
};

/// The cells of one body, `body` in the mesh's list, that points are in at rest: those points whose cell is on this
/// rank, each on one rank. A point outside all cells is in the one that it is least outside of, -min λ, λ its
/// barycentric coordinates. All ranks have all points. Throws Error (input), naming the point, for one that is farther
/// from the cells than the longest edge. Collective.
std::vector<LocatedPoint> locate_points(const TetrahedralMesh& mesh, std::size_t body,
                                        const std::vector<std::array<double, 3>>& points);

}  // namespace diffsim::contact
