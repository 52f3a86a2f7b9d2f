// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace diffsim {

/// Kind of a cell. The value is the cell's dimension d, and the cell has d + 1 corners. Points, segments and triangles
/// are always linear.
enum class CellKind : int { point = 0, segment = 1, triangle = 2, tetrahedron = 3 };

/// Kinds of cells of lower dimension than tetrahedra, in ascending order of dimension.
inline constexpr std::array<CellKind, 3> lower_kinds = {CellKind::point, CellKind::segment, CellKind::triangle};

constexpr int dimension_of(CellKind kind) { return static_cast<int>(kind); }  ///< dimension of a cell, 0 to 3
constexpr int corners_of(CellKind kind) { return dimension_of(kind) + 1; }    ///< number of corners of a cell
/// Index of a kind of cell in an array that has one element for each kind, or one element for each of `lower_kinds`.
constexpr std::size_t index_of(CellKind kind) { return static_cast<std::size_t>(kind); }

/// Number of nodes of a tetrahedron of the given order.
constexpr int nodes_of_order(int order) { return order == 2 ? 10 : 4; }

/// Plural name of a kind of cell for messages and scene files: "points", "segments", "triangles", "tetrahedra".
const char* name_of(CellKind kind);
/// Singular name of a kind of cell for messages: "point", "segment", "triangle", "tetrahedron".
const char* singular_of(CellKind kind);
/// Kind of cell with the plural name `name`, or an empty optional if no kind has that name.
std::optional<CellKind> cell_kind(const std::string& name);

/// Surface triangle that is a face of a tetrahedron. Cells and vertices are given by their local numbers.
struct Face {
  int cell;                     ///< tetrahedron to which the face belongs
  std::array<int, 3> vertices;  ///< corners; the normal points out of `cell`
  /// Mid-edge vertices of a second-order face, on the edges (0,1), (1,2) and (2,0); all -1 for a linear face.
  std::array<int, 3> middles{-1, -1, -1};

  int num_nodes() const { return middles[0] < 0 ? 3 : 6; }  ///< 3, or 6 for a second-order face
  /// Returns node i of the face, 0 <= i < num_nodes(). The corners come first, then the mid-edge nodes.
  int node(int i) const {
    return i < 3 ? vertices[static_cast<std::size_t>(i)] : middles[static_cast<std::size_t>(i - 3)];
  }
};

/// This rank's part of a named region of the mesh. Vertices and cells are given by their local numbers.
struct Region {
  std::string name;           ///< name of the region in the mesh
  std::vector<int> vertices;  ///< ascending; owned vertices come before copies of other ranks' vertices
  std::vector<int> cells;     ///< tetrahedra, ascending
  std::array<std::vector<int>, 3> lower_cells;  ///< cells of each of `lower_kinds`, ascending
  std::int64_t num_vertices = 0;                ///< number of vertices over all ranks
  std::int64_t num_cells = 0;                   ///< number of tetrahedra over all ranks

  /// Returns the region's local cells of `kind`, which may be any kind.
  const std::vector<int>& cells_of(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cells : lower_cells[index_of(kind)];
  }
};

/// Region shape: all vertices whose rest positions are in the closed box [min, max] (m).
struct BoxShape {
  std::array<double, 3> min,  ///< corner with the smallest coordinates, m
      max;                    ///< corner with the largest coordinates, m
};
/// Region shape: all vertices whose rest positions are in the closed ball with the given centre and radius (m).
struct SphereShape {
  std::array<double, 3> center;  ///< m
  double radius;                 ///< m
};
/// Region shape: the vertices with the listed 0-based numbers in the mesh file.
struct VertexList {
  std::vector<std::int64_t> vertices;  ///< 0-based vertex numbers, in any order
};
/// Set of vertices that defines a region. A cell or boundary face belongs to the region if all of its vertices,
/// including mid-edge nodes, belong to the set.
using RegionShape = std::variant<BoxShape, SphereShape, VertexList>;

}  // namespace diffsim
