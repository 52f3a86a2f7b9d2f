// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Where in a file something stands: its line (0: unknown) and, where a line does not say enough, a note.
struct FilePlace {
  long line = 0;
  std::string note;  ///< "at byte 120"
};

struct ValidateOptions {
  bool allow_coincident_vertices = false;
  std::function<FilePlace(std::int64_t)> cell_place;    ///< of a 0-based cell; called on errors only
  std::function<FilePlace(std::int64_t)> vertex_place;  ///< of a 0-based vertex
};

/// A cell counts as flat when |det[x1-x0, x2-x0, x3-x0]| <= min_relative_volume L³, L its longest edge.
///
/// The rounding error of that determinant is below 5e-15 L³ (Shewchuk 1997: (7 + 56u)u times its permanent, at most
/// 6 L³, u = 2⁻⁵³), so 1e-14 is where its sign starts to mean something; the worst cell of a usable mesh is far above.
inline constexpr double min_relative_volume = 1e-14;

/// Message for a second-order cell whose least_relative_jacobian is not above min_relative_volume.
inline constexpr char folded_cell[] =
    " is curved so far that it folds over (its Jacobian is not positive at all nodes and quadrature points); move the "
    "nodes on its edges towards their middles, check the order of its nodes, or read the mesh with order 1";

/// Checks a mesh that is whole on this rank; returns how many vertices no cell has.
///
/// Throws InputError, naming the file `name` (may be empty), the cell or vertex (0-based, file order) and what to do,
/// for: no cells; a coordinate that is not finite; a vertex number out of range, or twice in a cell; an inverted or
/// flat cell; a cell given twice; a face of more than two cells; two used vertices at one position; a region entry out
/// of range; and of second-order meshes: a folded cell; an edge with two nodes; a node on two edges. O(n log n) time,
/// about 50 bytes a linear cell, 400 a second-order one.
std::int64_t validate_cells(const MeshData& mesh, const std::string& name, const ValidateOptions& options = {});

/// Checks the cells of one kind below tetrahedra of a mesh that is whole on this rank; returns how many vertices no
/// cell of that kind has.
///
/// Throws InputError for: a coordinate that is not finite; a vertex number out of range, or twice in a cell; a segment
/// without length, a triangle without area; a cell given twice; two used vertices at one position. O(n log n) time.
std::int64_t validate_lower_cells(const MeshData& mesh, CellKind kind, const std::string& name,
                                  const ValidateOptions& options = {});

}  // namespace diffsim
