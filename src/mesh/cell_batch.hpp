// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/local_nodes.hpp"

namespace diffsim {

/// Cells of one kind on this rank, used while the rank's vertices are being numbered.
struct CellBatch {
  std::vector<std::int64_t> file_index;  ///< number of each cell in the mesh file: [cells]
  std::size_t width = 0;                 ///< number of nodes per cell
  std::size_t corners = 0;               ///< number of corners per cell; the first nodes of a cell are the corners
  std::size_t begin = 0;                 ///< index in LocalNodes::cells of the first node of the batch's first cell
  std::vector<int> order;                ///< indices of the cells in the order set by order_cells(): [cells]
  std::size_t num_shared = 0;            ///< number of shared cells, which have a vertex that several ranks have

  /// Returns the nodes of a cell as indices into `LocalNodes::file_index`.
  std::span<const int> nodes(const LocalNodes& of, int cell) const {
    return {&of.cells[begin + width * static_cast<std::size_t>(cell)], width};
  }
  /// Returns the shared cells (cells with a vertex that several ranks have) if `shared` is true, otherwise all other
  /// cells, in the order of CellBatch::order.
  std::span<const int> part(bool shared) const {
    const std::span<const int> all(order);
    return shared ? all.first(num_shared) : all.subspan(num_shared);
  }
};

/// Sets `batch.order` and `batch.num_shared`. In `batch.order`, shared cells (cells with a vertex that several ranks
/// have) precede all other cells; shared and other cells are each sorted by the order of the cell centroids along a
/// Hilbert curve. `positions` [nodes, 3]: positions of the nodes (m). `is_shared` [nodes]: non-zero if several ranks
/// have the node.
void order_cells(CellBatch& batch, const LocalNodes& nodes, const std::vector<double>& positions,
                 const std::vector<char>& is_shared);

/// Returns the local number of each node: owned nodes first, then ghosts. Owned nodes are numbered in the order in
/// which this rank's cells first refer to the nodes; the shared cells (cells with a vertex that several ranks have) of
/// all batches precede the other cells of all batches. Ghosts are numbered in file order. Sets `num_owned` to the
/// number of owned nodes.
std::vector<int> number_nodes(const std::vector<CellBatch>& batches, const LocalNodes& nodes, int& num_owned);

}  // namespace diffsim
