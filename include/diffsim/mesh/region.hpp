// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "diffsim/mesh/cell_kind.hpp"

namespace diffsim {

/// A triangle of a surface, in local numbering.
struct Face {
  int cell;
  std::array<int, 3> vertices;             ///< its corners; their normal points out of `cell`
  std::array<int, 3> middles{-1, -1, -1};  ///< of a second-order face: the vertices on its edges 01, 12, 20

  int num_nodes() const { return middles[0] < 0 ? 3 : 6; }
  /// Corners first, then middles; i < num_nodes().
  int node(int i) const {
    return i < 3 ? vertices[static_cast<std::size_t>(i)] : middles[static_cast<std::size_t>(i - 3)];
  }
};

/// This rank's part of a named set of the mesh, in local numbering.
struct Region {
  std::string name;
  std::vector<int> vertices;                    ///< ascending; owned ones first, as in the mesh
  std::vector<int> cells;                       ///< tetrahedra, ascending
  std::array<std::vector<int>, 3> lower_cells;  ///< of each of `lower_kinds`, ascending
  std::int64_t num_vertices = 0;                ///< over all ranks
  std::int64_t num_cells = 0;                   ///< tetrahedra, over all ranks

  /// Local cells of any kind.
  const std::vector<int>& cells_of(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cells : lower_cells[index_of(kind)];
  }
};

/// Vertices inside a closed box of rest positions, m.
struct BoxShape {
  std::array<double, 3> min, max;
};
/// Vertices inside a closed ball, m.
struct SphereShape {
  std::array<double, 3> center;
  double radius;
};
/// Vertices by number, 0-based in the file's order.
struct VertexList {
  std::vector<std::int64_t> vertices;
};
/// A set of vertices; its cells, and its boundary faces, are those with all their vertices in it, middles included.
using RegionShape = std::variant<BoxShape, SphereShape, VertexList>;

}  // namespace diffsim
