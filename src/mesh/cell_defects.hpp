// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/impl/element.hpp"

// Checks of meshes. mesh/validate.hpp applies these checks to a mesh that is stored on one rank. io/mesh_checks.hpp
// applies these checks to tetrahedra that are distributed in blocks over all ranks. The caller adds the name of the
// cell or vertex at the beginning of an error message. A message therefore begins, for example, with " has vertex 7
// twice; …".

namespace diffsim {

/// Error in a mesh, with the cell or vertex to which the error message refers.
struct MeshDefect {
  std::int64_t index;  ///< number of the cell or vertex to which the error message refers
  std::string what;
};

/// Returns the error message for a coordinate that is not finite.
std::string coordinate_error(double value);

/// Checks the vertex numbers v[0] … v[nodes - 1] of a cell. Returns an error message if a vertex number of the cell is
/// out of range or occurs twice, otherwise an empty string.
std::string vertex_number_error(const std::int64_t* v, int nodes, std::int64_t num_vertices);

/// Relative volume and longest edge of a tetrahedron with straight edges and the corners x0, x1, x2, x3.
struct CellSize {
  /// Ratio det[x1-x0, x2-x0, x3-x0] / L³ for a tetrahedron with the corners x0, x1, x2, x3 and a longest edge of length
  /// L, computed without overflow; 0 if L is 0 or infinite.
  double determinant;
  double longest;  ///< length L of the longest edge of the tetrahedron, m
  /// Returns true if the volume of the tetrahedron is positive beyond rounding errors (`min_relative_volume`).
  bool is_good() const;
  /// Returns true if the volume of the tetrahedron is negative beyond rounding errors.
  bool is_inverted() const;
};
/// Returns the CellSize of the tetrahedron whose corners are the first four nodes of the cell `x`.
CellSize cell_size(const QuadraticCell& x);
/// Returns the error message for a cell whose volume is not positive (`CellSize::is_good` is false). `num_inverted`:
/// number of inverted cells of the mesh.
std::string size_error(const CellSize& size, std::int64_t num_inverted, std::int64_t num_cells);

/// Face of a tetrahedron, or a cell of lower dimension (triangle, segment or point).
struct CellFace {
  /// Vertex numbers of the face or cell, in ascending order; for segments and points, the unused first entries are -1.
  std::array<std::int64_t, 3> vertices;
  std::int64_t opposite;  ///< corner of the tetrahedron that is not on the face; -1 for a cell of lower dimension
  std::int64_t cell;
};
/// Returns the face opposite to corner v[a] of the tetrahedron with the number `cell` and the corners v[0] … v[3].
CellFace face_of(const std::int64_t* v, int a, std::int64_t cell);
/// Returns the triangle, segment or point with the number `cell` and the vertices v[0] … v[corners - 1].
CellFace lower_cell(const std::int64_t* v, int corners, std::int64_t cell);
/// Returns an error if two cells have the same vertices or if more than two tetrahedra have a common face, otherwise an
/// empty optional. All faces with the same vertices must be passed in the same call of face_defect(). `kind`: word for
/// a cell in the error message, for example "triangle". face_defect() sorts the list `faces`.
std::optional<MeshDefect> face_defect(std::vector<CellFace>& faces, const std::string& kind = "cell");

/// Vertex with its position.
struct PlacedVertex {
  std::array<double, 3> x;
  std::int64_t vertex;
};
/// Returns an error if two vertices have the same position, otherwise an empty optional. All vertices with the same
/// position must be passed in the same call of coincident_vertices(). The function sorts `vertices`.
std::optional<MeshDefect> coincident_vertices(std::vector<PlacedVertex>& vertices);

}  // namespace diffsim
