// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Location in a mesh file, for error messages.
struct FilePlace {
  long line = 0;     ///< 1-based; 0 if unknown
  std::string note;  ///< more precise location than the line, such as "at byte 120"; may be empty
};

struct ValidateOptions {
  bool allow_coincident_vertices = false;
  /// Returns the location in the file of the cell with the given 0-based number. Called on errors only.
  std::function<FilePlace(std::int64_t)> cell_place;
  /// Returns the location in the file of the vertex with the given 0-based number. Called on errors only.
  std::function<FilePlace(std::int64_t)> vertex_location;
};

/// Threshold for flat tetrahedra. A tetrahedron with the corners x0, x1, x2, x3 is flat if |det[x1-x0, x2-x0, x3-x0]|
/// <= min_relative_volume L³, where L is the length of the tetrahedron's longest edge.
///
/// The rounding error of the computed determinant of a tetrahedron's edge vectors is at most (7 + 56u)u times the
/// permanent of the absolute values of the edge vectors, with u = 2⁻⁵³ (Shewchuk 1997). The permanent is at most 6 L³,
/// so the rounding error is below 5e-15 L³, and the sign of a computed determinant of magnitude above 1e-14 L³ is
/// correct. The tetrahedra of a usable mesh have much larger determinants.
inline constexpr double min_relative_volume = 1e-14;

/// Error message for a second-order cell whose least_relative_jacobian() is at most `min_relative_volume` or NaN.
inline constexpr char folded_cell[] =
    " is curved so far that it folds over (its Jacobian is not positive at all nodes and quadrature points); move the "
    "nodes on its edges towards their middles, check the order of its nodes, or read the mesh with order 1";

/// Validates the tetrahedra of a mesh that is stored completely on this rank. Returns the number of vertices that
/// belong to no cell.
///
/// Throws InputError for: a mesh without cells; a coordinate that is not finite; a vertex number out of range; a vertex
/// repeated in a cell; an inverted or flat cell; a repeated cell; a face of more than two cells; two vertices, both
/// used by cells, at the same position (unless `allow_coincident_vertices`); a membership in a region that refers to a
/// region, cell, face or vertex out of range. For second-order meshes, also throws InputError for: a folded cell (see
/// `folded_cell`); an edge with two mid-edge nodes; a mid-edge node that is on two edges or is also a corner. The error
/// message names the file `name` (may be empty) and the cell or vertex (0-based number in file order), and suggests a
/// remedy. For n cells, validate_cells() takes O(n log n) time, and about 50 bytes of memory per linear cell or 400
/// bytes per second-order cell. Serial.
std::int64_t validate_cells(const MeshData& mesh, const std::string& name, const ValidateOptions& options = {});

/// Validates the triangles, segments or points of a mesh that is stored completely on this rank. Returns the number of
/// vertices that belong to no cell of kind `kind`.
///
/// Throws InputError for: a coordinate that is not finite; a vertex number out of range; a vertex repeated in a cell; a
/// segment of zero length; a triangle of zero area; a repeated cell; two vertices, both used by cells, at the same
/// position (unless `allow_coincident_vertices`). For n cells, validate_lower_cells() takes O(n log n) time. Serial.
std::int64_t validate_lower_cells(const MeshData& mesh, CellKind kind, const std::string& name,
                                  const ValidateOptions& options = {});

}  // namespace diffsim
