// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "shell/plate_stencil.hpp"

namespace diffsim::shell {

/// Stencils of triangles (plate_stencil.hpp), and the hinges of these stencils. A hinge that occurs in several stencils
/// is stored once.
///
/// A wall is a set of triangles with prescribed vertices (see `wall_vertices`). The triangles of a wall do not bend and
/// have no stencil hinges. At a side between a triangle of a wall and another triangle, the normal of the surface is
/// the normal of the wall's triangle. If both ends of a side are clamped, or both lie in the same plane of symmetry (a
/// common bit of `VertexConstraints::clamped`), each triangle at the side has a separate hinge.
struct PlateTopology {
  std::vector<int> nodes;          ///< [triangles, 12], local vertices; node 0 of the stencil replaces missing vertices
  std::vector<int> hinges;         ///< [triangles, 9]: 2h, or 2h + 1 if the angle of hinge h is negated; -1: no hinge
  std::vector<HingeState> states;  ///< [triangles, 9]
  std::vector<int> hinge_nodes;    ///< [hinges, 4]: two ends and two third corners; the last may be a SecondCorner

  int num_triangles() const { return static_cast<int>(nodes.size()) / num_plate_nodes; }
  int num_hinges() const { return static_cast<int>(hinge_nodes.size()) / 4; }
};

/// Returns one flag per local vertex: 1 for the vertices of walls, 0 for other vertices. A vertex is prescribed if its
/// position is fixed or follows a prescribed motion. A triangle belongs to a wall if all its vertices are prescribed
/// and the triangle shares a side with another triangle whose vertices are all prescribed. For example, the triangles
/// between two rows of fixed vertices form a wall. A single triangle with prescribed vertices, such as a triangle in
/// the corner between two fixed sides of a shell, is not a wall and bends like its neighbours. `triangles`: local
/// indices of the shell's triangles. Collective.
std::vector<char> wall_vertices(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                const VertexConstraints& held);

/// Returns the stencils and hinges of triangles. `all`: all triangles of the mesh on this rank; `triangles`: local
/// indices of the shell's triangles; `walls`: result of `wall_vertices`; `clamped`: `VertexConstraints::clamped`. A
/// triangle whose three vertices have a non-zero flag in `walls` is part of a wall. An empty `walls` or `clamped` is
/// equivalent to zeros for all vertices.
PlateTopology plate_topology(const LowerCellSet& all, const std::vector<int>& triangles, const std::vector<char>& walls,
                             const std::vector<char>& clamped);

}  // namespace diffsim::shell
