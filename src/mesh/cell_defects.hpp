// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/impl/element.hpp"

// Checks of tetrahedral meshes that a mesh on one rank (mesh/validate.hpp) and a mesh in blocks (io/mesh_checks.hpp)
// share. Error messages begin after the name of the cell or vertex, which the caller adds: " has vertex 7 twice; …".

namespace diffsim {

/// Error in a cell or at a vertex.
struct MeshDefect {
  std::int64_t index;  ///< of the cell or vertex
  std::string what;
};

/// Returns the error message for a coordinate that is not finite.
std::string coordinate_error(double value);

/// Returns the error message for a cell with the vertices v[0] … v[nodes - 1] if a number is out of range or occurs
/// twice, otherwise an empty text.
std::string vertex_number_error(const std::int64_t* v, int nodes, std::int64_t num_vertices);

/// Size of a cell with straight edges.
struct CellSize {
  double
      determinant;  ///< det[x1-x0, x2-x0, x3-x0] / L³, scaled against overflow and underflow; 0 if L is 0 or infinite
  double longest;   ///< length L of the longest edge, m
  /// Returns true if the volume is positive beyond rounding errors (`min_relative_volume`).
  bool is_good() const;
  /// Returns true if the volume is negative beyond rounding errors.
  bool is_inverted() const;
};
/// Returns the size of the tetrahedron of the first four nodes.
CellSize cell_size(const QuadraticCell& x);
/// Returns the error message for a cell whose volume is not positive (`CellSize::is_good` is false). `num_inverted`:
/// number of inverted cells of the mesh.
std::string size_error(const CellSize& size, std::int64_t num_inverted, std::int64_t num_cells);

/// Face of a cell.
struct CellFace {
  std::array<std::int64_t, 3> vertices;  ///< ascending
  std::int64_t opposite;                 ///< vertex of the cell that is not on the face
  std::int64_t cell;
};
/// Returns the face opposite vertex `a` of a cell with the corners v[0] … v[3].
CellFace face_of(const std::int64_t* v, int a, std::int64_t cell);
/// Finds two equal cells, or a face of more than two cells. `faces` must contain all faces with the same vertices; the
/// function sorts `faces`.
std::optional<MeshDefect> face_defect(std::vector<CellFace>& faces);

/// Vertex with its position.
struct PlacedVertex {
  std::array<double, 3> x;
  std::int64_t vertex;
};
/// Finds two vertices at the same position. `vertices` must contain all vertices at each position; the function sorts
/// `vertices`.
std::optional<MeshDefect> coincident_vertices(std::vector<PlacedVertex>& vertices);

}  // namespace diffsim
