// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"
#include "mesh/cell_defects.hpp"

namespace diffsim {

/// Node of a second-order cell, with the vertex numbers `low` < `high` of the ends of the edge on which the node lies.
/// For a corner of a cell, the members `low`, `high` and `node` are equal.
struct EdgeNode {
  std::int64_t low, high;
  std::int64_t node;
  std::int64_t cell;  ///< number of a cell that has the node `node` on the edge (`low`, `high`)
};

/// Returns the nodes (corners and mid-edge nodes) of this rank's second-order cells, sorted by edge, then node. If
/// several cells have the same node on the same edge, edge_nodes() returns the node once.
std::vector<EdgeNode> edge_nodes(const MeshData& mesh);

/// Returns an error if an edge has two different mid-edge nodes, otherwise an empty optional. All EdgeNodes of all
/// ranks with the same edge must be passed in the same call of edge_with_two_nodes(). The function sorts `nodes`.
std::optional<MeshDefect> edge_with_two_nodes(std::vector<EdgeNode>& nodes);
/// Returns an error if a node is on two different edges, or is a corner and also a mid-edge node; otherwise an empty
/// optional. All EdgeNodes of all ranks with the same node must be passed in the same call of node_on_two_edges(). The
/// function sorts `nodes`.
std::optional<MeshDefect> node_on_two_edges(std::vector<EdgeNode>& nodes);

}  // namespace diffsim
