// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "raw_mesh.hpp"

namespace diffsim {

/// An element type of a format.
struct ElementShape {
  int dimension;
  int num_nodes;    ///< 0: any number
  int num_corners;  ///< its leading nodes that a simplex has; 0 where it is none, or of too high an order
  const char* name;
};

/// Chooses from the elements of a file the cells of `kind`, and those below it that are in groups. `order` 1 takes the
/// corners of second-order elements. Throws InputError that names the element.
class RawMeshBuilder {
 public:
  RawMeshBuilder(const RawPlaces& places, int order, CellKind kind) : places_(places), order_(order), kind_(kind) {
    mesh_.nodes_per_cell = corners_of(kind);
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& what) const;
  /// Number of the group of that dimension and name, new or old.
  std::int32_t group(int dimension, const std::string& name, int tag);
  /// An element by its nodes, simplices in the order of element.hpp; `offset` as RawPlaces takes it.
  void add(const ElementShape& shape, std::span<const std::int64_t> nodes, std::span<const std::int32_t> groups,
           std::size_t offset);
  /// A vertex of a group of dimension 0.
  void add_vertex(std::int64_t vertex, std::int32_t group) { mesh_.vertex_groups.push_back({vertex, group}); }
  /// A face of a tetrahedron, in a group of dimension 2, that is no element of the file.
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
