// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/edge_nodes.hpp"

#include <algorithm>
#include <tuple>

#include "diffsim/mesh/impl/element.hpp"

namespace diffsim {
namespace {

auto by_edge(const EdgeNode& n) { return std::tie(n.low, n.high, n.node, n.cell); }
auto by_node(const EdgeNode& n) { return std::tie(n.node, n.low, n.high, n.cell); }

std::string place(const EdgeNode& node) {
  if (node.low == node.high) return "as a corner";
  return "on the edge of vertices " + std::to_string(node.low) + " and " + std::to_string(node.high);
}

}  // namespace

std::vector<EdgeNode> edge_nodes(const MeshData& mesh) {
  std::vector<EdgeNode> nodes;
  nodes.reserve(mesh.cells.size());
  for (std::int64_t c = 0; c < mesh.block_cells(); ++c) {
    const std::int64_t* v = &mesh.cells[10 * static_cast<std::size_t>(c)];
    const std::int64_t cell = mesh.first_cell + c;
    for (int a = 0; a < 4; ++a) nodes.push_back({v[a], v[a], v[a], cell});
    for (int e = 0; e < 6; ++e) {
      const auto [low, high] = std::minmax(v[edge_corners[e][0]], v[edge_corners[e][1]]);
      nodes.push_back({low, high, v[4 + e], cell});
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const EdgeNode& a, const EdgeNode& b) { return by_edge(a) < by_edge(b); });
  const auto same = [](const EdgeNode& a, const EdgeNode& b) {
    return std::tie(a.low, a.high, a.node) == std::tie(b.low, b.high, b.node);
  };
  nodes.erase(std::unique(nodes.begin(), nodes.end(), same), nodes.end());
  return nodes;
}

std::optional<MeshDefect> edge_with_two_nodes(std::vector<EdgeNode>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const EdgeNode& a, const EdgeNode& b) { return by_edge(a) < by_edge(b); });
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const EdgeNode *first = &nodes[i - 1], *second = &nodes[i];
    if (std::tie(first->low, first->high) != std::tie(second->low, second->high) || first->node == second->node)
      continue;
    if (first->cell > second->cell) std::swap(first, second);
    return MeshDefect{second->cell, " has vertex " + std::to_string(second->node) + " " + place(*second) +
                                        ", where cell " + std::to_string(first->cell) + " has vertex " +
                                        std::to_string(first->node) + "; give both cells the same one"};
  }
  return {};
}

std::optional<MeshDefect> node_on_two_edges(std::vector<EdgeNode>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const EdgeNode& a, const EdgeNode& b) { return by_node(a) < by_node(b); });
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const EdgeNode *first = &nodes[i - 1], *second = &nodes[i];
    if (first->node != second->node || std::tie(first->low, first->high) == std::tie(second->low, second->high))
      continue;
    if (first->cell > second->cell) std::swap(first, second);
    return MeshDefect{second->cell, " has vertex " + std::to_string(second->node) + " " + place(*second) +
                                        ", but cell " + std::to_string(first->cell) + " has it " + place(*first) +
                                        "; give the nodes of both cells in the format's order"};
  }
  return {};
}

}  // namespace diffsim
