// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Index of a point in a list, and the stencil (nodes and weights) of the point in its cell. The member `outside` is 0
/// for a point inside its cell, else -min_k λ_k > 0, with the barycentric coordinates λ_k of the point in the cell.
struct LocatedPoint {
  std::size_t point;
  PointStencil stencil;
  double outside;
};

/// Finds, for each of the points `points`, the cell of one body that contains the point in the rest configuration.
/// `body` is the index, in the mesh's list of bodies, of the body whose cells are searched. Returns the points whose
/// cell is on this rank; each point is returned on exactly one rank. For a point outside all cells of the body, the
/// search considers the cells whose bounding boxes are at most the length of the mesh's longest edge away from the
/// point. Among these cells, the point is assigned to the cell with the smallest -min_k λ_k, where λ_k are the
/// barycentric coordinates of the point in the cell. Throws Error (input) if there is no such cell for a point; for an
/// affine body, the distance of its only cell is not limited. The error message names point i by `name(i)`. If
/// `all_nodes` is true, each stencil has all nodes of the cell, in the order of the cell; otherwise, nodes with
/// negligible weights are omitted. Every rank passes the complete list `points`. Collective.
std::vector<LocatedPoint> locate_points(const TetrahedralMesh& mesh, std::size_t body,
                                        const std::vector<std::array<double, 3>>& points,
                                        const std::function<std::string(std::size_t)>& name, bool all_nodes = false);

}  // namespace diffsim::contact
