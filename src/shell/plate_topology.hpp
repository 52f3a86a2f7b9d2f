// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "shell/plate_stencil.hpp"

namespace diffsim::shell {

/// Stencils of the triangles of a shell (plate_stencil.hpp), and the hinges of the stencils. A hinge is the common side
/// of two triangles, or of a triangle and an imaginary second triangle (SecondCorner). A hinge that occurs in several
/// stencils is stored once.
///
/// A wall, in which a shell is built in, is a set of adjacent triangles with prescribed vertices (see `wall_vertices`).
/// Built-in triangles (triangles of a wall) do not bend, and their stencils have no hinges. At a side between a
/// built-in triangle and another triangle, the normal of the surface is the normal of the built-in triangle. A separate
/// hinge is stored for each triangle at a side if the entries of `VertexConstraints::clamped` for both ends of the side
/// have a common bit: both ends are clamped, or both lie in the same plane of symmetry.
struct PlateTopology {
  /// Local vertex of each node of each triangle's stencil, [triangles, 12]; the vertex of node 0 stands for a node that
  /// does not exist.
  std::vector<int> nodes;
  /// Entry for each hinge of each triangle's stencil, [triangles, 9]: 2h for hinge h of `hinge_nodes`, 2h + 1 for hinge
  /// h with a negated angle, -1 if there is no hinge.
  std::vector<int> hinges;
  std::vector<HingeState> states;  ///< states of the hinges of each triangle's stencil, [triangles, 9]
  /// Local vertices of the two ends of each hinge and of the third corners of its two triangles, [hinges, 4]; the last
  /// entry of a hinge with an imaginary second triangle is a SecondCorner code.
  std::vector<int> hinge_nodes;

  int num_triangles() const { return static_cast<int>(nodes.size()) / num_plate_nodes; }
  int num_hinges() const { return static_cast<int>(hinge_nodes.size()) / 4; }
};

/// Returns one flag per local vertex: 1 for the vertices of walls, in which the shell is built in, and 0 for other
/// vertices. A vertex is prescribed (`held.positions`) if its position is fixed or follows a prescribed motion. A
/// triangle belongs to a wall if all its vertices are prescribed and the triangle shares a side with another triangle
/// whose vertices are all prescribed. For example, the triangles between two rows of fixed vertices form a wall. A
/// single triangle with prescribed vertices, such as a triangle in the corner between two fixed sides of a shell, is
/// not built in and bends like its neighbours. `triangles`: local indices of the shell's triangles. Collective.
std::vector<char> wall_vertices(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                const VertexConstraints& held);

/// Returns the stencils and hinges of a shell's triangles. `all`: all triangles of the mesh on this rank; `triangles`:
/// local indices of the shell's triangles; `walls`: result of `wall_vertices`; `clamped`: `VertexConstraints::clamped`.
/// A triangle whose three vertices have a non-zero flag in the array `walls` is built in. An empty array `walls` or
/// `clamped` is equivalent to zeros for all vertices.
PlateTopology plate_topology(const LowerCellSet& all, const std::vector<int>& triangles, const std::vector<char>& walls,
                             const std::vector<char>& clamped);

}  // namespace diffsim::shell
