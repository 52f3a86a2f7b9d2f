// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// A node of a second-order cell, with the ends of the edge that it is on; a corner is on the edge from it to itself.
struct EdgeNode {
  std::int64_t low, high;
  std::int64_t node;
  std::int64_t cell;  ///< one that says so
};

/// Those of this rank's cells, each once.
std::vector<EdgeNode> edge_nodes(const MeshData& mesh);

/// Fault of a mesh whose cells do not meet in the nodes of their edges.
struct EdgeFault {
  std::int64_t cell;
  std::string what;  ///< " has vertex 7 on …"
};

/// Finds an edge with two nodes. `nodes`, which it sorts, has all there are of each edge.
std::optional<EdgeFault> edge_with_two_nodes(std::vector<EdgeNode>& nodes);
/// Finds a node on two edges. `nodes`, which it sorts, has all there are of each node.
std::optional<EdgeFault> node_on_two_edges(std::vector<EdgeNode>& nodes);

}  // namespace diffsim
