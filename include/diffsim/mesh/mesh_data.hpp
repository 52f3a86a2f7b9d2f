// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/element.hpp"

namespace diffsim {

/// A named set of mesh entities: a physical group of the file, or a side of a box.
struct RegionInfo {
  std::string name;    ///< physical name; the tag written as a number where the file gives none
  int dimension = 3;   ///< 3: cells, 2: boundary or interior faces, 1 and 0: vertices (of curves, points)
  int tag = 0;         ///< the file's physical tag
  std::string body{};  ///< of a mesh of several bodies: the body whose file has the set; `name` is then BODY/NAME
};

/// A body of a mesh of several: its vertices and cells follow each other in the mesh's file order, up to where the next
/// body's begin. Bodies have no vertex in common.
struct MeshBody {
  std::string name;
  std::int64_t first_vertex = 0;
  std::int64_t first_cell = 0;
};

/// One rank's contiguous block of a tetrahedral mesh, in the file's own order, before it is partitioned.
///
/// A serial reader leaves everything on rank 0 and empty blocks elsewhere; a parallel reader and the box
/// generator fill one block a rank. Vertex and cell numbers are global, 0-based, in file order. The nodes on the edges
/// of second-order cells are vertices too.
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
  std::int64_t num_unused_vertices = 0;  ///< vertices of the whole mesh that no cell has
  std::vector<MeshBody> bodies;  ///< the same list on every rank, in the order of numbers; empty: one without a name

  int nodes_per_cell() const { return nodes_of_order(order); }
  std::int64_t block_vertices() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
  std::int64_t block_cells() const {
    return static_cast<std::int64_t>(cells.size()) / static_cast<std::int64_t>(nodes_per_cell());
  }
};

}  // namespace diffsim
