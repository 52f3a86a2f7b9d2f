// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "diffsim/mesh/region.hpp"
#include "mesh/raw_mesh.hpp"
#include "mesh/readers/gmsh/gmsh_tokens.hpp"

namespace diffsim::gmsh {

/// Sections of a file that contain the mesh. If the file lacks a section, the `name` of the section is empty.
struct Contents {
  int version = 0;  ///< 22 (format 2.2) or 41 (format 4.1)
  Section physical_names, entities, nodes, elements;
  bool partitioned = false;  ///< true if the file has $PartitionedEntities
};

/// Contents of a Gmsh file before node tags, the numbers of the nodes in the file, are replaced by vertex numbers 0, 1,
/// …. `cells` and `group_elements` contain node tags.
struct TaggedMesh : RawMesh {
  std::vector<std::int64_t> node_tags;
  std::vector<std::size_t> node_offsets;  ///< byte offset of each node in the file

  /// Returns the index of the physical group with this dimension and tag. Creates the group, without a name, if the
  /// group does not exist.
  std::int32_t add_group(int dimension, int tag);

 private:
  std::map<std::pair<int, int>, std::int32_t> group_numbers_;
};

/// Finds the sections of the file and reads the section $MeshFormat. Sets `document.binary` and `document.swap_bytes`.
Contents find_sections(Document& document);

/// Reads the sections of `contents` and multiplies the coordinates by `scale`. Cells are the elements of `kind`.
/// Elements of lower dimension are kept if they belong to a group; elements of higher dimension are skipped. If `order`
/// is 1, only the corners of second-order elements are kept. If `kind` is not tetrahedra, only the corners of the cells
/// are kept, regardless of `order`.
TaggedMesh read_sections(const Document& document, const Contents& contents, double scale, int order, CellKind kind);

}  // namespace diffsim::gmsh
