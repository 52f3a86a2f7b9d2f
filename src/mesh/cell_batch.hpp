// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "local_nodes.hpp"

namespace diffsim {

/// A rank's cells of one kind while the rank's vertices are numbered.
struct CellBatch {
  std::vector<std::int64_t> file_index;  ///< [cells]
  std::size_t width = 0;                 ///< nodes of a cell
  std::size_t corners = 0;               ///< how many of these are corners; the corners come first
  std::size_t begin = 0;                 ///< place of the first cell's first node in LocalNodes::cells
  std::vector<int> order;                ///< [cells]; those with a vertex of several ranks come first
  std::size_t num_shared = 0;            ///< how many have such a vertex

  /// Nodes of a cell, as places in LocalNodes.
  std::span<const int> nodes(const LocalNodes& of, int cell) const {
    return {&of.cells[begin + width * static_cast<std::size_t>(cell)], width};
  }
  /// The cells with a vertex of several ranks, or the others, in their order.
  std::span<const int> part(bool shared) const {
    const std::span<const int> all(order);
    return shared ? all.first(num_shared) : all.subspan(num_shared);
  }
};

/// Sets `order` and `num_shared`: both parts follow a Hilbert curve through the centroids of the cells' corners.
/// `positions` [nodes, 3], m; `is_shared` [nodes]: whether several ranks have the node.
void order_cells(CellBatch& batch, const LocalNodes& nodes, const std::vector<double>& positions,
                 const std::vector<char>& is_shared);

/// Number of each node on its rank: owned nodes, then ghosts. Owned nodes are numbered as cells first touch them: cells
/// with a vertex of several ranks, batch by batch, then the others. `num_owned`: how many are owned.
std::vector<int> number_nodes(const std::vector<CellBatch>& batches, const LocalNodes& nodes, int& num_owned);

}  // namespace diffsim
