// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/region.hpp"
#include "mesh/validate.hpp"

namespace diffsim {

/// Selected contents of a mesh file: the cells of one kind, and the elements of lower dimension that belong to groups.
/// A group is a named or numbered set of elements or nodes in the file.
struct RawMesh {
  struct CellGroup {
    std::int64_t cell;
    std::int32_t group;  ///< index into `groups`
  };
  /// Triangle, segment or point of a group. `nodes` contains the 3, 2 or 1 corners and, in second-order meshes only,
  /// the mid-edge nodes, in the order of the edges (0,1), (1,2), (2,0). The unused elements at the end of `nodes` are
  /// 0.
  struct GroupElement {
    std::array<std::int64_t, 6> nodes;
    int dimension;
    int num_nodes;       ///< 6, 3, 2 or 1; a second-order segment has 3
    std::int32_t group;  ///< index into `groups`
    std::size_t offset;  ///< location in the file; RawPlaces::element converts the value for messages
  };

  std::vector<double> coordinates;             ///< [nodes, 3], scaled to m
  int nodes_per_cell = 4;                      ///< tetrahedra: 4 or 10; other kinds: number of corners
  std::vector<std::int64_t> cells;             ///< [cells, nodes_per_cell], in the order of element.hpp
  std::vector<std::size_t> cell_offsets;       ///< location of each cell in the file (see RawPlaces::element): [cells]
  std::array<std::int64_t, 4> num_elements{};  ///< number of elements of each dimension in the file

  std::vector<RegionInfo> groups;  ///< groups of the file; names are unique within a dimension
  std::vector<CellGroup> cell_groups;
  std::vector<MeshData::VertexRegion> vertex_groups;  ///< `region` is an index into `groups`
  std::vector<GroupElement> group_elements;
};

/// Description of a file for messages: name, locations, and the terms of the file format.
struct RawPlaces {
  std::string file;
  /// Returns the location of an element, from GroupElement::offset or a value of `RawMesh::cell_offsets`.
  std::function<FilePlace(std::size_t)> element;
  std::function<FilePlace(std::int64_t)> vertex;  ///< returns the location of the vertex with a 0-based number
  std::string group = "group";                    ///< the format's term for a group
  std::function<std::string(CellKind)> remedy;    ///< advice on how to obtain a file with cells of the given kind
  /// Advice of the form " (in …)" on how to split other cells into cells of the given kind; may be empty.
  std::function<std::string(CellKind)> splitting = [](CellKind) { return std::string(); };
};

/// Converts the contents of a file to a validated mesh. All node numbers in `raw` must be 0-based vertex numbers.
///
/// Groups become regions, sorted by dimension (3 first), then by tag. Group elements of dimension 2 become faces of
/// tetrahedra; a face that two cells share is assigned to the cell with the lower number. The nodes of group elements
/// of dimension 1 and 0 become vertices of the region. The memberships of cells, faces and vertices in regions are
/// sorted by region, then by cell or vertex number, without duplicates. Throws InputError if there are no cells, if a
/// group triangle is not a face of a tetrahedron, and if validate_cells() or validate_lower_cells() rejects the mesh.
MeshData assemble_mesh(RawMesh&& raw, CellKind kind, bool allow_coincident_vertices, const RawPlaces& places);

}  // namespace diffsim
