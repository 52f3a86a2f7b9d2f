// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace diffsim {

/// Gather and scatter operations of a loop over cells: the loop reads values at the cells' nodes, and adds values at
/// these nodes without races and in a fixed order. Two runs with the same inputs and the same numbers of ranks and
/// threads give bitwise identical results.
///
/// On a host, `pack_width` cells at a time form a pack, which SIMD instructions process together. The packs of cells
/// are divided into chunks (ranges of packs), at most one chunk per thread. The first chunk of packs that contains a
/// vertex adds directly to the value at the vertex; every later chunk that contains the vertex adds to a private slot,
/// which is a temporary vector. After the loop, the slots of each vertex are added to the value at the vertex. On a GPU
/// each node of each cell has a separate slot.
class CellScatter {
 public:
  /// Builds the scatter. `cells`: local vertices of each cell, [cells, nodes], in the order in which the cells are
  /// processed. Copies of the last cell fill the last pack of `pack_width` cells. The caller must set the contributions
  /// of the copies of the last cell to zero, for example by a zero cell volume. The first `num_shared` of the cells are
  /// those that have a vertex that is also a local vertex of another rank.
  CellScatter(std::span<const int> cells, int num_shared, int nodes, int num_vertices);
  /// Builds the scatter from the array `padded` of the cells' vertices, [num_padded(num_cells), nodes], whose last pack
  /// is already filled with copies of the last cell (`fill_up`). On a host the array `padded` is used in place and must
  /// outlive the scatter.
  CellScatter(std::vector<int>& padded, int num_cells, int num_shared, int nodes, int num_vertices);
  ~CellScatter();
  CellScatter(CellScatter&&) noexcept;
  CellScatter& operator=(CellScatter&&) noexcept;

  /// Returns the number of cells including the copies of the last cell that fill the last pack.
  static int num_padded(int num_cells);
  /// Sets all cells of the array `padded` after the first `num_cells` to copies of cell `num_cells` - 1. `padded`:
  /// [num_padded(num_cells), nodes].
  static void fill_up(std::vector<int>& padded, int num_cells, int nodes);

  int num_cells() const { return num_cells_; }
  int num_packs() const;
  int num_vertices() const { return num_vertices_; }

  struct Data;
  const Data& data() const { return *data_; }

 private:
  /// Assigns vertices and slots (temporary vectors) to chunks, which are ranges of packs of cells. Builds all members
  /// of CellScatter::Data except the member `vertices`.
  void distribute(const std::vector<int>& vertices, int num_shared, int nodes);

  int num_cells_;
  int num_vertices_;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
