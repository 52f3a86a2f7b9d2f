// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/mesh/cell_kind.hpp"
#include "diffsim/mesh/element.hpp"

namespace diffsim {

struct AffineBody;

/// A named set of mesh entities: a physical group of the file, or a side of a box.
struct RegionInfo {
  std::string name;   ///< physical name; the tag written as a number where the file gives none
  int dimension = 3;  ///< 3: tetrahedra, 2: their faces, or triangles, 1 and 0: vertices of curves and points, or cells
  int tag = 0;        ///< the file's physical tag
  std::string body{};  ///< of a mesh of several bodies: the body whose file has the set; `name` is then BODY/NAME
};

/// A body of a mesh of several. Its vertices, and its cells of each kind, follow each other in the mesh's file order,
/// up to where the next body's begin. Bodies have no vertex in common.
struct MeshBody {
  std::string name;
  std::int64_t first_vertex = 0;
  std::int64_t first_cell = 0;                     ///< of the tetrahedra
  std::array<std::int64_t, 3> first_lower_cell{};  ///< of each of `lower_kinds`
  CellKind kind = CellKind::tetrahedron;           ///< kind of its cells of the highest dimension
  std::int64_t num_directors = 0;  ///< how many of its vertices, the last ones, are directors; see directors.hpp
  std::shared_ptr<const AffineBody> affine{};  ///< surface and volume of an affine body, else nullptr
};

/// One rank's contiguous block of a mesh, in the file's own order, before it is partitioned.
///
/// A serial reader leaves everything on rank 0 and empty blocks elsewhere; a parallel reader and the box
/// generator fill one block a rank. Vertex and cell numbers are global, 0-based, in file order; cells of each kind are
/// numbered by themselves. "Cells" without a kind are tetrahedra. The nodes on the edges of second-order cells are
/// vertices too.
struct MeshData {
  struct CellRegion {
    std::int64_t cell;
    std::int32_t region;  ///< index into `regions`
  };
  struct FaceRegion {
    std::int64_t cell;  ///< a cell of this block that has the face
    std::int32_t face;  ///< 0..3: the face opposite to that local vertex of the cell
    std::int32_t region;
  };
  struct VertexRegion {
    std::int64_t vertex;  ///< a vertex of this block
    std::int32_t region;
  };
  /// Block of the cells of one kind below tetrahedra: bodies of their own, not faces or edges of tetrahedra.
  struct LowerCells {
    std::int64_t num = 0;             ///< of the whole mesh
    std::int64_t first = 0;           ///< where this rank's block begins
    std::vector<std::int64_t> nodes;  ///< [block cells, corners]
    std::int64_t num_directors = 0;   ///< of the whole mesh
    /// Of segments: the vertex that is the segment's director, or -1; [block cells], or empty where no segment of the
    /// whole mesh has one.
    std::vector<std::int64_t> directors;
    std::vector<CellRegion> regions;
  };

  int order = 1;                  ///< 1: cells have four vertices; 2: ten, see element.hpp; on every rank
  std::int64_t num_vertices = 0;  ///< of the whole mesh
  std::int64_t num_cells = 0;
  std::int64_t first_vertex = 0;  ///< where this rank's blocks begin
  std::int64_t first_cell = 0;

  std::vector<double> coordinates;  ///< [block vertices, 3], m (already scaled)
  std::vector<std::int64_t> cells;  ///< [block cells, 4 or 10], positively oriented: det[x1-x0, x2-x0, x3-x0] > 0
  std::vector<RegionInfo> regions;  ///< the same list on every rank
  std::vector<CellRegion> cell_regions;
  std::vector<FaceRegion> face_regions;
  std::vector<VertexRegion> vertex_regions;
  std::array<LowerCells, 3> lower_cells;  ///< of each of `lower_kinds`
  std::int64_t num_unused_vertices = 0;   ///< vertices of the whole mesh that no cell has
  std::vector<MeshBody> bodies;  ///< the same list on every rank, in the order of numbers; empty: one without a name
  std::shared_ptr<const AffineBody> affine{};  ///< on every rank, of an affine body's one cell (affine_body.hpp)

  int nodes_per_cell() const { return nodes_of_order(order); }
  std::int64_t block_vertices() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
  std::int64_t block_cells() const {
    return static_cast<std::int64_t>(cells.size()) / static_cast<std::int64_t>(nodes_per_cell());
  }
  LowerCells& lower(CellKind kind) { return lower_cells[index_of(kind)]; }
  const LowerCells& lower(CellKind kind) const { return lower_cells[index_of(kind)]; }
  /// Cells of a kind below tetrahedra in this rank's block.
  std::int64_t block_of(CellKind kind) const {
    return static_cast<std::int64_t>(lower(kind).nodes.size()) / corners_of(kind);
  }
  /// Kind of the cells of the highest dimension in the whole mesh; points where there are no cells.
  CellKind kind() const {
    CellKind highest = num_cells > 0 ? CellKind::tetrahedron : CellKind::point;
    for (const CellKind kind : lower_kinds)
      if (lower(kind).num > 0 && dimension_of(kind) > dimension_of(highest)) highest = kind;
    return highest;
  }
  /// Cells of a kind in the whole mesh.
  std::int64_t num_of(CellKind kind) const { return kind == CellKind::tetrahedron ? num_cells : lower(kind).num; }
};

}  // namespace diffsim
