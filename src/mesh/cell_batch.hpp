// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/local_nodes.hpp"

namespace diffsim {

/// A rank's cells of one kind, used while the rank's vertices are being numbered.
struct CellBatch {
  std::vector<std::int64_t> file_index;  ///< file number of each cell: [cells]
  std::size_t width = 0;                 ///< number of nodes per cell
  std::size_t corners = 0;               ///< number of corners per cell; the corners are the first nodes
  std::size_t begin = 0;                 ///< index in LocalNodes::cells of the first node of the first cell
  std::vector<int> order;                ///< indices of the cells in their new order, shared cells first: [cells]
  std::size_t num_shared = 0;            ///< number of shared cells, which have a vertex that several ranks have

  /// Returns the nodes of a cell as indices into `LocalNodes::file_index`.
  std::span<const int> nodes(const LocalNodes& of, int cell) const {
    return {&of.cells[begin + width * static_cast<std::size_t>(cell)], width};
  }
  /// Returns the shared cells if `shared` is true, otherwise all other cells. The cells are in the order of `order`.
  std::span<const int> part(bool shared) const {
    const std::span<const int> all(order);
    return shared ? all.first(num_shared) : all.subspan(num_shared);
  }
};

/// Sets `order` and `num_shared` of `batch`. A shared cell has a vertex that several ranks have. The shared cells come
/// first, then the other cells. Within each of these two groups the cells are in the order of their centroids along a
/// Hilbert curve. `positions` [nodes, 3]: positions of the nodes (m). `is_shared` [nodes]: non-zero if several ranks
/// have the node.
void order_cells(CellBatch& batch, const LocalNodes& nodes, const std::vector<double>& positions,
                 const std::vector<char>& is_shared);

/// Returns the local number of each node: owned nodes first, then ghosts. Owned nodes are numbered in the order in
/// which the cells first refer to the nodes. The cells are processed in this order: the shared cells of all batches,
/// then the other cells of all batches. Ghosts are numbered in file order. Sets `num_owned` to the number of owned
/// nodes.
std::vector<int> number_nodes(const std::vector<CellBatch>& batches, const LocalNodes& nodes, int& num_owned);

}  // namespace diffsim
