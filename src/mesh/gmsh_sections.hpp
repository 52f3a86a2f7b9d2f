// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "diffsim/mesh/cell_kind.hpp"
#include "gmsh_tokens.hpp"

namespace diffsim::gmsh {

/// The sections that hold the mesh; those the file lacks have no name.
struct Contents {
  int version = 0;  ///< 22 or 41
  Section physical_names, entities, nodes, elements;
  bool partitioned = false;  ///< has $PartitionedEntities
};

/// A physical group: (dimension, tag), tag > 0.
using Group = std::pair<int, int>;

/// Contents of the file, in its own numbers: nodes are tags, nothing is resolved yet.
struct RawMesh {
  struct CellGroup {
    std::int64_t cell;
    std::int32_t group;
  };
  /// A triangle, line or point of a group, by its 3, 2 or 1 corners and, where `second_order`, the 3 or 1 nodes on its
  /// edges (01, 12, 20); the rest are 0.
  struct GroupElement {
    std::array<std::int64_t, 6> nodes;
    bool second_order;
    std::int32_t group;
    std::size_t offset;
  };

  std::vector<std::int64_t> node_tags;
  std::vector<std::size_t> node_offsets;  ///< where each stands in the file
  std::vector<double> coordinates;        ///< [nodes, 3], scaled
  int nodes_per_cell = 4;                 ///< 4 or 10; of a kind below tetrahedra its corners
  std::vector<std::int64_t> cells;        ///< [cells, nodes_per_cell], node tags, in the order of element.hpp
  std::vector<std::size_t> cell_offsets;
  std::array<std::int64_t, 4> num_elements{};  ///< of each dimension in the file, also those that are not kept

  std::vector<Group> groups;  ///< in order of appearance; what `group` counts
  std::vector<std::string_view> group_names;
  std::vector<CellGroup> cell_groups;
  std::vector<GroupElement> group_elements;

  std::int32_t add_group(const Group& group);  ///< its number, new or old

 private:
  std::map<Group, std::int32_t> group_numbers_;
};

/// Finds the sections, reads $MeshFormat, and sets how `document` writes its numbers.
Contents find_sections(Document& document);

/// Reads everything; coordinates are multiplied by `scale`. Cells are of `kind`; elements of a lower dimension are kept
/// where they are in a group, those of a higher one are not. Of second-order elements, `order` 1 takes the corners
/// alone, which is the only order of kinds below tetrahedra.
RawMesh read_sections(const Document& document, const Contents& contents, double scale, int order, CellKind kind);

}  // namespace diffsim::gmsh
