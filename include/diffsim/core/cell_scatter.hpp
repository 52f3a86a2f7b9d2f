// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace diffsim {

/// How a sweep over cells reads their nodes and adds to them without races and in a fixed order, so that equal runs
/// give equal bits.
///
/// On a host, cells are grouped in SIMD packs and packs in one chunk a thread. Most vertices belong to one chunk, which
/// adds straight to them; a vertex that several chunks touch gets a private slot in all of them but the first, and
/// slots are summed afterwards. On a GPU every cell writes to slots of its own, which each vertex then gathers.
class CellScatter {
 public:
  /// `cells`: [n, nodes] local vertices, in the order to be worked. The last pack is filled up with copies of the last
  /// cell, whose contribution must be made zero (a cell has no volume there). The first `num_shared` are those with a
  /// vertex that another rank has too.
  CellScatter(std::span<const int> cells, int num_shared, int nodes, int num_vertices);
  /// Scatter of cells that are filled up already, [num_padded(num_cells), nodes]: on a host the array is used where
  /// it is, and must stay.
  CellScatter(std::vector<int>& padded, int num_cells, int num_shared, int nodes, int num_vertices);
  ~CellScatter();
  CellScatter(CellScatter&&) noexcept;
  CellScatter& operator=(CellScatter&&) noexcept;

  /// Cells with the copies that fill the last pack.
  static int num_padded(int num_cells);
  /// Sets the entries of `padded` [num_padded(num_cells), nodes] after the first `num_cells` to the last cell's.
  static void fill_up(std::vector<int>& padded, int num_cells, int nodes);

  int num_cells() const { return num_cells_; }
  int num_packs() const;
  int num_vertices() const { return num_vertices_; }

  struct Data;
  const Data& data() const { return *data_; }

 private:
  /// Makes all but the vertices: who adds where.
  void distribute(const std::vector<int>& vertices, int num_shared, int nodes);

  int num_cells_;
  int num_vertices_;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
