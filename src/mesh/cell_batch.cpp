// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/cell_batch.hpp"

#include <algorithm>

#include "mesh/hilbert.hpp"

namespace diffsim {

void order_cells(CellBatch& batch, const LocalNodes& nodes, const std::vector<double>& positions,
                 const std::vector<char>& is_shared) {
  const std::size_t num_cells = batch.file_index.size();
  std::vector<double> centroids(3 * num_cells, 0.0);
  const double weight = 1.0 / static_cast<double>(batch.corners);
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (const int node : batch.nodes(nodes, static_cast<int>(cell)).first(batch.corners))
      for (std::size_t c = 0; c < 3; ++c)
        centroids[3 * cell + c] += weight * positions[3 * static_cast<std::size_t>(node) + c];
  batch.order = hilbert_order(centroids);
  std::vector<char> shared(num_cells, 0);
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (const int node : batch.nodes(nodes, static_cast<int>(cell)))
      shared[cell] |= is_shared[static_cast<std::size_t>(node)];
  const auto inner = std::stable_partition(batch.order.begin(), batch.order.end(),
                                           [&](int cell) { return shared[static_cast<std::size_t>(cell)] != 0; });
  batch.num_shared = static_cast<std::size_t>(inner - batch.order.begin());
}

std::vector<int> number_nodes(const std::vector<CellBatch>& batches, const LocalNodes& nodes, int& num_owned) {
  std::vector<int> number(nodes.file_index.size(), -1);
  num_owned = 0;
  for (const bool shared : {true, false})
    for (const CellBatch& batch : batches)
      for (const int cell : batch.part(shared))
        for (const int node : batch.nodes(nodes, cell)) {
          const auto v = static_cast<std::size_t>(node);
          if (!nodes.is_ghost[v] && number[v] < 0) number[v] = num_owned++;
        }
  int next_ghost = num_owned;
  for (std::size_t v = 0; v < number.size(); ++v)
    if (nodes.is_ghost[v]) number[v] = next_ghost++;
  return number;
}

}  // namespace diffsim
