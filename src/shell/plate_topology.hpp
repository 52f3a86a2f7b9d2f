// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "shell/plate_stencil.hpp"

namespace diffsim::shell {

/// Stencils of triangles, and the hinges of these stencils; a hinge of several stencils is stored once.
///
/// If the triangle across a side is part of a wall (see `wall_vertices`), the normal at the side is the normal of that
/// triangle. If the two ends of a side are both clamped in a wall or both lie in the same plane of symmetry (a common
/// bit of `VertexConstraints::clamped`), each triangle at the side has a separate hinge. The triangles of a wall do not
/// bend and have no hinges.
struct PlateTopology {
  std::vector<int> nodes;          ///< [triangles, 12], local vertices; corner 0 replaces missing vertices
  std::vector<int> hinges;         ///< [triangles, 9]: 2h, or 2h + 1 if the angle of hinge h is negated; -1: no hinge
  std::vector<HingeState> states;  ///< [triangles, 9]
  std::vector<int> hinge_nodes;    ///< [hinges, 4]: two ends and two third corners; the last may be a SecondCorner

  int num_triangles() const { return static_cast<int>(nodes.size()) / num_plate_nodes; }
  int num_hinges() const { return static_cast<int>(hinge_nodes.size()) / 4; }
};

/// Returns one flag per local vertex, which is 1 for the vertices of walls and 0 for other vertices. A triangle belongs
/// to a wall if all its vertices are prescribed and the triangle shares a side with another triangle whose vertices are
/// all prescribed. For example, the triangles between two rows of fixed vertices form a wall. A single triangle with
/// prescribed vertices, such as a triangle in the corner between two fixed sides of a shell, is not a wall and bends
/// like its neighbours. Collective.
std::vector<char> wall_vertices(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                const VertexConstraints& held);

/// Returns the stencils and hinges of local triangles. `walls`: result of `wall_vertices`; `clamped`:
/// `VertexConstraints::clamped`. An empty `walls` or `clamped` marks no vertices.
PlateTopology plate_topology(const LowerCellSet& all, const std::vector<int>& triangles, const std::vector<char>& walls,
                             const std::vector<char>& clamped);

}  // namespace diffsim::shell
