// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"
#include "mesh/cell_defects.hpp"

namespace diffsim {

/// Node of a second-order cell, with the ends of the edge on which the node lies. For a corner, `low` = `high` =
/// `node`.
struct EdgeNode {
  std::int64_t low, high;
  std::int64_t node;
  std::int64_t cell;  ///< a cell that has this node on this edge
};

/// Returns the distinct edge nodes of this rank's cells, sorted by edge, then node.
std::vector<EdgeNode> edge_nodes(const MeshData& mesh);

/// Returns an error if an edge has two different mid-edge nodes, otherwise an empty optional. All entries with the same
/// edge must be in `nodes`. The function sorts `nodes`.
std::optional<MeshDefect> edge_with_two_nodes(std::vector<EdgeNode>& nodes);
/// Returns an error if a node is on two different edges, otherwise an empty optional. All entries with the same node
/// must be in `nodes`. The function sorts `nodes`.
std::optional<MeshDefect> node_on_two_edges(std::vector<EdgeNode>& nodes);

}  // namespace diffsim
