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

/// Sections of a Gmsh file that describe the mesh. For a section that the Gmsh file lacks, `Section::name` is empty.
struct Contents {
  int version = 0;  ///< version of the file format: 22 for format 2.2, 41 for format 4.1
  Section physical_names, entities, nodes, elements;
  bool partitioned = false;  ///< true if the file has a section $PartitionedEntities
};

/// Contents of a Gmsh file, with node tags (the numbers of the nodes in the file) in the members `cells` and
/// `group_elements`. parse_gmsh() replaces the node tags by vertex numbers 0, 1, …
struct TaggedMesh : RawMesh {
  std::vector<std::int64_t> node_tags;
  std::vector<std::size_t> node_offsets;  ///< byte offset of each node's data in the file

  /// Returns the index of the physical group with the given dimension and tag, and creates a physical group without a
  /// name if no physical group has this dimension and tag.
  std::int32_t add_group(int dimension, int tag);

 private:
  std::map<std::pair<int, int>, std::int32_t> group_numbers_;
};

/// Finds the sections of a Gmsh file that describe the mesh, and reads the section $MeshFormat. Sets `document.binary`
/// and `document.swap_bytes`.
Contents find_sections(Document& document);

/// Reads the sections `contents` of the Gmsh file `document`, and multiplies the coordinates by `scale`. The cells of
/// the returned mesh are the file's elements of the kind `kind`. Elements of lower dimension than the mesh cells are
/// kept if they belong to a physical group; elements of higher dimension are skipped. If `order` is 1, only the corners
/// of second-order elements are kept. If `kind` is not CellKind::tetrahedron, only the corners of the cells are kept,
/// regardless of `order`.
TaggedMesh read_sections(const Document& document, const Contents& contents, double scale, int order, CellKind kind);

}  // namespace diffsim::gmsh
