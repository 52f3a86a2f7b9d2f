// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/shell/plate_stencil.hpp"

namespace diffsim::shell {

/// Stencils of triangles, and the hinges in these, each hinge once.
///
/// Where the triangle beyond a side is part of a wall, the normal at the side is that triangle's. Sides whose ends are
/// both clamped have hinges of their own. Triangles of walls have no hinges: nothing can bend them.
struct PlateTopology {
  std::vector<int> nodes;          ///< [triangles, 12], local vertices; corner 0 where there is none
  std::vector<int> hinges;         ///< [triangles, 9]: 2h, 2h + 1 where hinge h's angle counts negated, or -1
  std::vector<HingeState> states;  ///< [triangles, 9]
  std::vector<int> hinge_nodes;    ///< [hinges, 4]: ends, third corners; or a SecondCorner

  int num_triangles() const { return static_cast<int>(nodes.size()) / num_plate_nodes; }
  int num_hinges() const { return static_cast<int>(hinge_nodes.size()) / 4; }
};

/// Vertices of walls, [local vertices]: of triangles whose vertices are all held and which have a side in common with
/// another such triangle, as two rows of fixed vertices have. A single one, as in a corner between two fixed sides, is
/// none: it is bent as its neighbours are. Collective.
std::vector<char> wall_vertices(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                const HeldVertices& held);

/// `walls`: [local vertices].
PlateTopology plate_topology(const LowerCellSet& all, const std::vector<int>& triangles, const std::vector<char>& walls,
                             const std::vector<char>& clamped);

}  // namespace diffsim::shell
