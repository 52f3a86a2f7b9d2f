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
/// A group is a named or numbered set of elements or nodes in a mesh file.
struct RawMesh {
  struct CellGroup {
    std::int64_t cell;
    std::int32_t group;  ///< index into `groups`
  };
  /// Triangle, segment or point that belongs to a group of the mesh file. `GroupElement::nodes` contains the 3, 2 or 1
  /// corners of the element and, in second-order meshes only, the mid-edge nodes, in the order of the edges (0,1),
  /// (1,2), (2,0). Only the first `num_nodes` entries of `GroupElement::nodes` are used.
  struct GroupElement {
    std::array<std::int64_t, 6> nodes;
    int dimension;
    int num_nodes;       ///< number of nodes: triangle 3 or 6, segment 2 or 3, point 1
    std::int32_t group;  ///< index into `groups`
    /// Location of the element in the file, in the form that RawPlaces::element requires.
    std::size_t offset;
  };

  std::vector<double> coordinates;  ///< coordinates of the nodes, [nodes, 3], scaled to m
  /// Number of nodes per cell: 4 or 10 for tetrahedra, otherwise the number of corners.
  int nodes_per_cell = 4;
  std::vector<std::int64_t> cells;        ///< nodes of the cells, [cells, nodes_per_cell], in the order of element.hpp
  std::vector<std::size_t> cell_offsets;  ///< location of each cell in the file (see RawPlaces::element): [cells]
  std::array<std::int64_t, 4> num_elements{};  ///< number of elements of each dimension in the file

  std::vector<RegionInfo> groups;  ///< groups of the file; groups of the same dimension have different names
  std::vector<CellGroup> cell_groups;
  /// Vertices that belong to groups of the mesh file; the member `region` of an entry is an index into `groups`.
  std::vector<MeshData::VertexRegion> vertex_groups;
  std::vector<GroupElement> group_elements;
};

/// Description of a mesh file for messages: name of the file, locations of elements and vertices, and terms of the file
/// format.
struct RawPlaces {
  std::string file;
  /// Returns the location of an element in the file; the argument is a GroupElement::offset or an entry of
  /// `RawMesh::cell_offsets`.
  std::function<FilePlace(std::size_t)> element;
  std::function<FilePlace(std::int64_t)> vertex;  ///< returns the location of the vertex with the given 0-based number
  std::string group = "group";                    ///< word that the file format uses for a group, for example "block"
  std::function<std::string(CellKind)> remedy;  ///< returns advice on how to obtain a file with cells of the given kind
  /// Returns advice of the form " (in …)" on how to split cells of other kinds into cells of the given kind; may return
  /// an empty string.
  std::function<std::string(CellKind)> splitting = [](CellKind) { return std::string(); };
};

/// Converts the contents of a mesh file to a validated mesh. All node numbers in the contents `raw` must be 0-based
/// vertex numbers.
///
/// Groups of the mesh file become regions, sorted by dimension (3 first), then by tag. The triangles of a group become
/// faces of the group's region; a face that two tetrahedra share is listed as a face of the tetrahedron with the lower
/// number. The nodes of the segments and points of a group become vertices of the group's region. The memberships of
/// cells, faces and vertices in regions are sorted by region, then by cell or vertex number, without duplicates. Throws
/// InputError if the mesh file has no cells, if a triangle of a group is not a face of a tetrahedron or has other
/// mid-edge nodes than the tetrahedron, or if validate_cells() or validate_lower_cells() rejects the mesh.
MeshData assemble_mesh(RawMesh&& raw, CellKind kind, bool allow_coincident_vertices, const RawPlaces& places);

}  // namespace diffsim
