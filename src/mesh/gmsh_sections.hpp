// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "diffsim/mesh/cell_kind.hpp"
#include "gmsh_tokens.hpp"
#include "raw_mesh.hpp"

namespace diffsim::gmsh {

/// The sections that hold the mesh; those the file lacks have no name.
struct Contents {
  int version = 0;  ///< 22 or 41
  Section physical_names, entities, nodes, elements;
  bool partitioned = false;  ///< has $PartitionedEntities
};

/// Contents of the file, in its own numbers: nodes are tags, nothing is resolved yet.
struct TaggedMesh : RawMesh {
  std::vector<std::int64_t> node_tags;
  std::vector<std::size_t> node_offsets;  ///< where each stands in the file

  /// Number of the physical group of that dimension and tag, new or old; new ones have no name.
  std::int32_t add_group(int dimension, int tag);

 private:
  std::map<std::pair<int, int>, std::int32_t> group_numbers_;
};

/// Finds the sections, reads $MeshFormat, and sets how `document` writes its numbers.
Contents find_sections(Document& document);

/// Reads everything; coordinates are multiplied by `scale`. Cells are of `kind`; elements of a lower dimension are kept
/// where they are in a group, those of a higher one are not. Of second-order elements, `order` 1 takes the corners
/// alone, which is the only order of kinds below tetrahedra.
TaggedMesh read_sections(const Document& document, const Contents& contents, double scale, int order, CellKind kind);

}  // namespace diffsim::gmsh
