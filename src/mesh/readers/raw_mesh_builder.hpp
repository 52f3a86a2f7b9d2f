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

/// Element type of a file format.
struct ElementShape {
  int dimension;
  int num_nodes;    ///< 0 if an element can have any number of nodes
  int num_corners;  ///< number of corners, which are the first nodes, of a simplex of order 1 or 2; 0 for other types
  const char* name;
};

/// Selects from the elements of a file the cells of `kind`, and the elements of lower dimension that belong to groups
/// (named or numbered sets in the file). With `order` 1, or if `kind` is not tetrahedra, only the corners of
/// second-order elements are kept. Throws InputError for invalid elements; the message names the element.
class RawMeshBuilder {
 public:
  RawMeshBuilder(const RawPlaces& places, int order, CellKind kind) : places_(places), order_(order), kind_(kind) {
    mesh_.nodes_per_cell = corners_of(kind);
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& what) const;
  /// Returns the index of the group with this dimension and name. Creates the group if the group does not exist.
  std::int32_t group(int dimension, const std::string& name, int tag);
  /// Adds an element. The nodes of simplices are in the order of element.hpp. `groups`: indices of the groups to which
  /// the element belongs. `offset`: location of the element in the file, for messages (RawPlaces::element).
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
