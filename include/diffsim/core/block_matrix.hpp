// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Where the owner of a vertex keeps it.
struct VertexPlace {
  int rank, index;
  bool operator==(const VertexPlace&) const = default;
};

/// Groups of local vertices (elements, contact stencils) all pairs of which a Jacobian couples.
class Couplings {
 public:
  struct Group {
    int nodes;                  ///< vertices an element
    std::vector<int> vertices;  ///< [elements, nodes]
    bool operator==(const Group&) const = default;
  };

  /// `vertices`: [elements, nodes], local.
  void add(const std::vector<int>& vertices, int nodes);
  const std::vector<Group>& groups() const { return groups_; }
  /// The local vertices after the owned ones are copies of these, instead of the mesh's.
  void set_copies(const std::vector<VertexPlace>& copies) { copies_ = copies; }
  const std::vector<VertexPlace>& copies() const { return copies_; }
  bool operator==(const Couplings& other) const { return groups_ == other.groups_ && copies_ == other.copies_; }
  /// Removes all couplings and copies; their memory serves what is added next.
  void clear();

 private:
  std::vector<Group> groups_;
  std::vector<VertexPlace> copies_;
  std::vector<std::vector<int>> spare_;  // of groups that were cleared
};

/// A rank's share of a sparse matrix of 3×3 blocks, one a pair of coupled local vertices, in device memory.
///
/// Rows and columns are local vertices, copies of other ranks' included: the whole matrix is the sum of the ranks'
/// shares. Every vertex has its diagonal block. What adds elements to it goes through a BlockScatter.
class BlockMatrix {
 public:
  BlockMatrix(int num_vertices, const Couplings& couplings);
  ~BlockMatrix();
  BlockMatrix(BlockMatrix&&) noexcept;
  BlockMatrix& operator=(BlockMatrix&&) noexcept;

  int num_vertices() const { return static_cast<int>(row_begin_.size()) - 1; }
  int num_blocks() const { return static_cast<int>(columns_.size()); }
  /// Tells patterns apart.
  std::uint64_t pattern() const { return pattern_; }
  const std::vector<int>& row_begin() const { return row_begin_; }  ///< [num_vertices + 1]
  const std::vector<int>& columns() const { return columns_; }      ///< [num_blocks], ascending in each row
  /// Index of block (row, column); -1 where the two are not coupled.
  int find(int row, int column) const;

  void zero();
  /// K_vv += a diag(x_v); x [vertices, 3], or [vertices, 1] for the same thrice, of all vertices or the first ones.
  void add_to_diagonal(double a, const Field& x);
  /// y += K x; x and y [num_vertices, 3].
  void multiply(const Field& x, Field& y) const;
  double* values();              ///< device address, [num_blocks, 3, 3], row-major
  const double* values() const;  ///< device address of the values
  std::vector<double> to_host() const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::uint64_t pattern_;
  std::vector<int> row_begin_, columns_;
  std::unique_ptr<Data> data_;
};

/// How the blocks of elements are added to a BlockMatrix without races and in a fixed order; as CellScatter does for
/// vertices. Valid for matrices with the pattern it was made for.
class BlockScatter {
 public:
  /// `elements`: [n, nodes], in the order they are worked; packs of them are worked at once and the last pack is filled
  /// up with copies of the last element, whose contribution must be made zero.
  BlockScatter(const BlockMatrix& matrix, const std::vector<int>& elements, int nodes);
  ~BlockScatter();
  BlockScatter(BlockScatter&&) noexcept;
  BlockScatter& operator=(BlockScatter&&) noexcept;

  /// Whether it was made for the pattern of `matrix`.
  bool fits(const BlockMatrix& matrix) const { return pattern_ == matrix.pattern(); }
  int nodes() const { return nodes_; }

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::uint64_t pattern_;
  int nodes_;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
