// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Location of a vertex: the rank that owns the vertex, and the local index of the vertex on that rank.
struct VertexLocation {
  int rank, index;
  bool operator==(const VertexLocation&) const = default;
};

/// Sparsity pattern of a Jacobian, stored as groups of elements (for example cells or contact stencils) with equal
/// numbers of vertices. An element is a list of local vertices; the Jacobian couples all pairs of vertices of an
/// element.
class Couplings {
 public:
  struct Group {
    int nodes;                  ///< number of vertices per element
    std::vector<int> vertices;  ///< [elements, nodes]
    bool operator==(const Group&) const = default;
  };

  /// Adds a group of elements, such as cells, to the sparsity pattern. `vertices`: local vertices of each element,
  /// [elements, nodes].
  void add(const std::vector<int>& vertices, int nodes);
  const std::vector<Group>& groups() const { return groups_; }
  /// Sets the ghost vertices of the sparsity pattern, which follow the owned vertices in the local numbering: ghost i
  /// is a copy of the vertex at `copies[i]`. Without a call of `set_copies`, the sparsity pattern has the ghost
  /// vertices of the mesh.
  void set_copies(const std::vector<VertexLocation>& copies) { copies_ = copies; }
  const std::vector<VertexLocation>& copies() const { return copies_; }
  bool operator==(const Couplings& other) const { return groups_ == other.groups_ && copies_ == other.copies_; }
  /// Removes all couplings and all ghost vertices from the sparsity pattern. The memory of the removed couplings is not
  /// freed, so that later calls of `add` can reuse the memory.
  void clear();

 private:
  std::vector<Group> groups_;
  std::vector<VertexLocation> copies_;
  std::vector<std::vector<int>> spare_;  // memory of cleared groups, for reuse
};

/// Contribution of this rank to a sparse matrix of 3×3 blocks, in device memory. A BlockMatrix has one 3×3 block for
/// each pair of coupled local vertices.
///
/// The rows and columns of a BlockMatrix correspond to local vertices, ghosts included. The global matrix is the sum of
/// the BlockMatrix objects of all ranks. Every local vertex has a diagonal block in a BlockMatrix. The class
/// BlockScatter adds element matrices to a BlockMatrix.
class BlockMatrix {
 public:
  BlockMatrix(int num_vertices, const Couplings& couplings);
  ~BlockMatrix();
  BlockMatrix(BlockMatrix&&) noexcept;
  BlockMatrix& operator=(BlockMatrix&&) noexcept;

  int num_vertices() const { return static_cast<int>(row_begin_.size()) - 1; }
  int num_blocks() const { return static_cast<int>(columns_.size()); }
  /// Returns the identifier of the matrix's sparsity pattern. Each constructed matrix gets a new identifier.
  std::uint64_t pattern() const { return pattern_; }
  const std::vector<int>& row_begin() const { return row_begin_; }  ///< [num_vertices + 1]
  /// Returns the column of each block, [num_blocks], in ascending order in each row.
  const std::vector<int>& columns() const { return columns_; }
  /// Returns the index of block (row, column), or -1 if the vertices `row` and `column` are not coupled.
  int find(int row, int column) const;

  void zero();
  /// Computes K_vv += a diag(x_v) for each vertex v at which x has a value, where K is this matrix, K_vv is the
  /// diagonal block of vertex v, and x_v is the value of x at v. `x`: [vertices, 3], or [vertices, 1] for the same
  /// value in all three components. If x has fewer values than the matrix has vertices, the diagonal blocks of the
  /// remaining vertices do not change.
  void add_to_diagonal(double a, const Field& x);
  /// Computes y += K x, where K is this matrix. The fields `x` and `y` have the shape [num_vertices, 3].
  void multiply(const Field& x, Field& y) const;
  double* values();              ///< device address of the values of the 3×3 blocks, [num_blocks, 3, 3], row-major
  const double* values() const;  ///< device address of the values of the blocks
  std::vector<double> to_host() const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::uint64_t pattern_;
  std::vector<int> row_begin_, columns_;
  std::unique_ptr<Data> data_;
};

/// Scatter operation that adds the 3×3 blocks of element matrices to a BlockMatrix in parallel, without races and in a
/// fixed order. A BlockScatter may be used only for matrices with the same `pattern()` as the matrix that was passed to
/// the constructor.
class BlockScatter {
 public:
  /// Builds the scatter. `elements`: local vertices of each element, [elements, nodes], in the order in which the
  /// elements are processed. Elements are processed in packs: groups of `pack_width` elements that SIMD instructions
  /// process together. Copies of the last element fill the last pack of elements; the caller must set the contributions
  /// of these copies to zero.
  BlockScatter(const BlockMatrix& matrix, const std::vector<int>& elements, int nodes);
  ~BlockScatter();
  BlockScatter(BlockScatter&&) noexcept;
  BlockScatter& operator=(BlockScatter&&) noexcept;

  /// Returns true if the BlockScatter was built for the sparsity pattern of `matrix`.
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
