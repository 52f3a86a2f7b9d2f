// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "mesh/raw_mesh.hpp"

namespace diffsim {

/// Element type of a mesh file format.
struct ElementShape {
  int dimension;
  int num_nodes;  ///< number of nodes of an element; 0 for a type with any number of nodes, such as polygons
  /// Number of corners of an element that is a simplex of order 1 or 2, whose first nodes are the corners; 0 for other
  /// element types.
  int num_corners;
  const char* name;
};

/// Builder of a RawMesh from the elements of a mesh file. The builder keeps the elements of the cell kind `kind`, and
/// those elements of lower dimension that belong to groups, which are named or numbered sets of elements in the file.
/// If `order` is 1, or if the cells are not tetrahedra, only the corners of second-order elements are kept. Throws
/// InputError for an invalid element; the message names the element.
class RawMeshBuilder {
 public:
  RawMeshBuilder(const RawPlaces& places, int order, CellKind kind) : places_(places), order_(order), kind_(kind) {
    mesh_.nodes_per_cell = corners_of(kind);
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& what) const;
  /// Returns the index of the group with the given dimension and name, and creates a group with tag `tag` if no group
  /// has this dimension and name.
  std::int32_t group(int dimension, const std::string& name, int tag);
  /// Adds an element. The nodes of a simplex must be in the order of mesh/impl/element.hpp. `groups`: indices of the
  /// groups to which the element belongs. `offset`: location of the element in the file, for messages, in the form that
  /// RawPlaces::element requires.
  void add(const ElementShape& shape, std::span<const std::int64_t> nodes, std::span<const std::int32_t> groups,
           std::size_t offset);
  /// Adds a vertex to a group of dimension 0.
  void add_vertex(std::int64_t vertex, std::int32_t group) { mesh_.vertex_groups.push_back({vertex, group}); }
  /// Adds a face of a tetrahedron to a group of dimension 2. The face need not be an element of the file.
  void add_face(const std::array<std::int64_t, 3>& corners, std::int32_t group, std::size_t offset) {
    mesh_.group_elements.push_back({{corners[0], corners[1], corners[2]}, 2, 3, group, offset});
  }
  RawMesh take(std::vector<double>&& coordinates);

 private:
  void add_cell(std::span<const std::int64_t> nodes, std::span<const std::int32_t> groups, std::size_t offset);

  const RawPlaces& places_;
  const int order_;
  const CellKind kind_;
  RawMesh mesh_;
  std::map<std::pair<int, std::string>, std::int32_t> group_numbers_;
};

}  // namespace diffsim
