// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/raw_mesh_builder.hpp"

#include <algorithm>

#include "mesh/refuse_mesh.hpp"

namespace diffsim {

void RawMeshBuilder::fail(std::size_t offset, const std::string& what) const {
  refuse_mesh(places_.file, places_.element(offset), what);
}

std::int32_t RawMeshBuilder::group(int dimension, const std::string& name, int tag) {
  const auto [entry, is_new] =
      group_numbers_.try_emplace({dimension, name}, static_cast<std::int32_t>(mesh_.groups.size()));
  if (is_new) mesh_.groups.push_back({name, dimension, tag});
  return entry->second;
}

void RawMeshBuilder::add(const ElementShape& shape, std::span<const std::int64_t> nodes,
                         std::span<const std::int32_t> groups, std::size_t offset) {
  ++mesh_.num_elements[static_cast<std::size_t>(shape.dimension)];
  if (shape.dimension > dimension_of(kind_)) return;
  const std::string name = shape.name;
  if (shape.dimension == dimension_of(kind_) && shape.num_corners == 0)
    fail(offset, "a " + name + " is among the cells, where all must be " + name_of(kind_) +
                     "; save the mesh with these only" + places_.splitting(kind_));
  const bool keeps_middles = order_ == 2 && kind_ == CellKind::tetrahedron;
  const std::span<const std::int64_t> kept =
      nodes.first(keeps_middles ? nodes.size() : static_cast<std::size_t>(shape.num_corners));
  if (shape.dimension == dimension_of(kind_)) return add_cell(kept, groups, offset);
  if (groups.empty()) return;
  if (shape.num_corners == 0)
    fail(offset, "a " + name + " is in a " + places_.group +
                     ", and no tetrahedron has one on its surface; save the mesh "
                     "with triangles only");
  RawMesh::GroupElement element{{}, shape.dimension, static_cast<int>(kept.size()), 0, offset};
  std::copy(kept.begin(), kept.end(), element.nodes.begin());
  for (const std::int32_t group : groups) {
    element.group = group;
    mesh_.group_elements.push_back(element);
  }
}

void RawMeshBuilder::add_cell(std::span<const std::int64_t> nodes, std::span<const std::int32_t> groups,
                              std::size_t offset) {
  const auto num_nodes = static_cast<int>(nodes.size());
  if (mesh_.cell_offsets.empty()) mesh_.nodes_per_cell = num_nodes;
  if (num_nodes != mesh_.nodes_per_cell)
    fail(offset, "a tetrahedron has " + std::to_string(num_nodes) + " nodes, and others have " +
                     std::to_string(mesh_.nodes_per_cell) + "; save the mesh in one order");
  const auto cell = static_cast<std::int64_t>(mesh_.cell_offsets.size());
  mesh_.cells.insert(mesh_.cells.end(), nodes.begin(), nodes.end());
  mesh_.cell_offsets.push_back(offset);
  for (const std::int32_t group : groups) mesh_.cell_groups.push_back({cell, group});
}

RawMesh RawMeshBuilder::take(std::vector<double>&& coordinates) {
  mesh_.coordinates = std::move(coordinates);
  // In a linear mesh, keep only the corners of group elements.
  if (mesh_.nodes_per_cell != nodes_of_order(2))
    for (RawMesh::GroupElement& element : mesh_.group_elements) element.num_nodes = element.dimension + 1;
  return std::move(mesh_);
}

}  // namespace diffsim
