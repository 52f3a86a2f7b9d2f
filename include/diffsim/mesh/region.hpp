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

/// Kind of a cell. The value of a CellKind is the dimension d of the cell; the cell has d + 1 corners. Cells that are
/// points, segments or triangles are always linear.
enum class CellKind : int { point = 0, segment = 1, triangle = 2, tetrahedron = 3 };

/// Kinds of cells of lower dimension than tetrahedra, in ascending order of dimension.
inline constexpr std::array<CellKind, 3> lower_kinds = {CellKind::point, CellKind::segment, CellKind::triangle};

constexpr int dimension_of(CellKind kind) { return static_cast<int>(kind); }  ///< dimension of a cell, 0 to 3
constexpr int corners_of(CellKind kind) { return dimension_of(kind) + 1; }    ///< number of corners of a cell
/// Index of a kind of cell in an array that has one element for each kind, or for each kind in `lower_kinds`.
constexpr std::size_t index_of(CellKind kind) { return static_cast<std::size_t>(kind); }

/// Number of nodes of a tetrahedron of the given order.
constexpr int nodes_of_order(int order) { return order == 2 ? 10 : 4; }

/// Plural name of a kind of cell for messages and scene files: "points", "segments", "triangles", "tetrahedra".
const char* name_of(CellKind kind);
/// Singular name of a kind of cell for messages: "point", "segment", "triangle", "tetrahedron".
const char* singular_of(CellKind kind);
/// Kind of cell with the plural name `name`, or an empty optional if no kind has that name.
std::optional<CellKind> cell_kind(const std::string& name);

/// Triangular face of a tetrahedron, linear or second-order. The cell and vertex numbers in a Face are local numbers of
/// this rank.
struct Face {
  int cell;                     ///< tetrahedron to which the face belongs
  std::array<int, 3> vertices;  ///< corners of the face, ordered such that the normal points out of the tetrahedron
  /// Mid-edge vertices of a second-order face, on the edges between the corners (0,1), (1,2) and (2,0); for a linear
  /// face, all values are -1.
  std::array<int, 3> middles{-1, -1, -1};

  int num_nodes() const { return middles[0] < 0 ? 3 : 6; }  ///< number of nodes: 3, or 6 for a second-order face
  /// Returns node i of the face, 0 <= i < num_nodes(). Nodes 0 to 2 are the corners of the face, and nodes 3 to 5 are
  /// the mid-edge nodes.
  int node(int i) const {
    return i < 3 ? vertices[static_cast<std::size_t>(i)] : middles[static_cast<std::size_t>(i - 3)];
  }
};

/// This rank's part of a named region of the mesh. Vertices and cells of a Region are given by local numbers of this
/// rank.
struct Region {
  std::string name;  ///< name of the region in the mesh
  /// Vertices of the region, in ascending local order: owned vertices, then copies of other ranks' vertices.
  std::vector<int> vertices;
  std::vector<int> cells;                       ///< tetrahedra, ascending
  std::array<std::vector<int>, 3> lower_cells;  ///< points, segments and triangles of the region, each ascending
  std::int64_t num_vertices = 0;                ///< number of the region's vertices over all ranks
  std::int64_t num_cells = 0;                   ///< number of the region's tetrahedra over all ranks

  /// Returns this rank's cells of the kind `kind` in the region; `kind` may be any CellKind.
  const std::vector<int>& cells_of(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cells : lower_cells[index_of(kind)];
  }
};

/// Region shape: all vertices whose rest positions are in the closed box [min, max] (m).
struct BoxShape {
  std::array<double, 3> min,  ///< corner of the box with the smallest coordinates, m
      max;                    ///< corner of the box with the largest coordinates, m
};
/// Region shape: all vertices whose rest positions are in the closed ball with the given centre and radius (m).
struct SphereShape {
  std::array<double, 3> center;  ///< m
  double radius;                 ///< m
};
/// Region shape: the vertices with the listed 0-based numbers in the mesh file.
struct VertexList {
  std::vector<std::int64_t> vertices;  ///< 0-based numbers of vertices, in any order
};
/// Set of vertices that defines a region. A cell or boundary face belongs to a region if all vertices of the cell or
/// face, including mid-edge nodes, belong to the region's set of vertices.
using RegionShape = std::variant<BoxShape, SphereShape, VertexList>;

}  // namespace diffsim
