// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diffsim/mesh/cell_kind.hpp"
#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/validate.hpp"

namespace diffsim {

/// Contents of a mesh file of cells of several kinds, of which those of one kind are wanted: these cells, and the
/// elements below them that are in groups.
struct RawMesh {
  struct CellGroup {
    std::int64_t cell;
    std::int32_t group;
  };
  /// A triangle, segment or point of a group, by its 3, 2 or 1 corners and, in second-order meshes only, the nodes on
  /// its edges (01, 12, 20); the rest are 0.
  struct GroupElement {
    std::array<std::int64_t, 6> nodes;
    int dimension;
    int num_nodes;  ///< 6, 3, 2 or 1; 3 of a segment if it has a node on it
    std::int32_t group;
    std::size_t offset;
  };

  std::vector<double> coordinates;             ///< [nodes, 3], scaled
  int nodes_per_cell = 4;                      ///< 4 or 10; of a kind below tetrahedra its corners
  std::vector<std::int64_t> cells;             ///< [cells, nodes_per_cell], in the order of element.hpp
  std::vector<std::size_t> cell_offsets;       ///< where each stands in the file
  std::array<std::int64_t, 4> num_elements{};  ///< of each dimension in the file, also those that are not kept

  std::vector<RegionInfo> groups;  ///< what `group` counts; names differ within a dimension
  std::vector<CellGroup> cell_groups;
  std::vector<MeshData::VertexRegion> vertex_groups;  ///< `region` counts in `groups`
  std::vector<GroupElement> group_elements;
};

/// A file as messages name it, and its format's words.
struct RawPlaces {
  std::string file;
  std::function<FilePlace(std::size_t)> element;  ///< of a cell's or group element's offset
  std::function<FilePlace(std::int64_t)> vertex;  ///< of a 0-based vertex
  std::string group = "group";                    ///< the format's word for a group
  std::function<std::string(CellKind)> remedy;    ///< how to get a file that has cells of that kind
  /// where a program splits other cells into such ones, as " (in …)"
  std::function<std::string(CellKind)> splitting = [](CellKind) { return std::string(); };
};

/// A checked mesh of the contents, whose numbers of nodes are those of vertices, 0-based.
///
/// Groups become regions, sorted by dimension (3 first) and tag; group elements of dimension 2 become faces of
/// tetrahedra, each of the lowest-numbered cell that has it, those of dimension 1 and 0 become vertices. Region entries
/// are sorted by region and entity, each once. Throws InputError for contents without cells, for a group element that
/// is no face, and for what validate_cells() or validate_lower_cells() refuses.
MeshData assemble_mesh(RawMesh&& raw, CellKind kind, bool allow_coincident_vertices, const RawPlaces& places);

}  // namespace diffsim
