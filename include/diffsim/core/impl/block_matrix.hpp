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

/// Sparsity pattern of a Jacobian, stored as groups of elements (for example cells or contact stencils). An element is
/// a list of local vertices; the Jacobian couples all pairs of vertices of an element.
class Couplings {
 public:
  struct Group {
    int nodes;                  ///< vertices per element
    std::vector<int> vertices;  ///< [elements, nodes]
    bool operator==(const Group&) const = default;
  };

  /// Adds a group of elements. `vertices`: [elements, nodes], local vertices.
  void add(const std::vector<int>& vertices, int nodes);
  const std::vector<Group>& groups() const { return groups_; }
  /// Sets the ghost vertices, which follow the owned vertices in the local numbering: ghost i is a copy of the vertex
  /// at `copies[i]`. By default the ghost vertices are the ghost vertices of the mesh.
  void set_copies(const std::vector<VertexLocation>& copies) { copies_ = copies; }
  const std::vector<VertexLocation>& copies() const { return copies_; }
  bool operator==(const Couplings& other) const { return groups_ == other.groups_ && copies_ == other.copies_; }
  /// Removes all couplings and copies. The memory is not freed, so that later calls of `add` can reuse the memory.
  void clear();

 private:
  std::vector<Group> groups_;
  std::vector<VertexLocation> copies_;
  std::vector<std::vector<int>> spare_;  // memory of cleared groups, for reuse
};

/// Contribution of this rank to a sparse matrix of 3×3 blocks, in device memory. There is one block for each pair of
/// coupled local vertices.
///
/// Rows and columns are local vertices, ghosts included. The global matrix is the sum of the ranks' contributions.
/// Every vertex has a diagonal block. The class BlockScatter adds the blocks of elements to a BlockMatrix.
class BlockMatrix {
 public:
  BlockMatrix(int num_vertices, const Couplings& couplings);
  ~BlockMatrix();
  BlockMatrix(BlockMatrix&&) noexcept;
  BlockMatrix& operator=(BlockMatrix&&) noexcept;

  int num_vertices() const { return static_cast<int>(row_begin_.size()) - 1; }
  int num_blocks() const { return static_cast<int>(columns_.size()); }
  /// Returns the identifier of the sparsity pattern. Each constructed matrix gets a new identifier.
  std::uint64_t pattern() const { return pattern_; }
  const std::vector<int>& row_begin() const { return row_begin_; }  ///< [num_vertices + 1]
  const std::vector<int>& columns() const { return columns_; }      ///< [num_blocks], ascending in each row
  /// Returns the index of block (row, column), or -1 if the two vertices are not coupled.
  int find(int row, int column) const;

  void zero();
  /// Computes K_vv += a diag(x_v) for each vertex v for which x has a value. K is this matrix, K_vv is the diagonal
  /// block of vertex v, and x_v is the value at v. x: [vertices, 3], or [vertices, 1] for the same value in all three
  /// components. If x has fewer values than the matrix has vertices, the diagonal blocks of the remaining vertices do
  /// not change.
  void add_to_diagonal(double a, const Field& x);
  /// Computes y += K x, where K is this matrix. x and y: [num_vertices, 3].
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

/// Scatter operation that adds the 3×3 blocks of element matrices to a BlockMatrix in parallel, without races and in a
/// fixed order. A BlockScatter may be used only for matrices with the same `pattern()` as the matrix that was passed to
/// the constructor.
class BlockScatter {
 public:
  /// Builds the scatter. `elements`: local vertices of each element, [elements, nodes], in the order in which the
  /// elements are processed. Elements are processed in packs: groups of `pack_width` elements that SIMD instructions
  /// process together. The last pack is filled with copies of the last element; the caller must set the contributions
  /// of these copies to zero.
  BlockScatter(const BlockMatrix& matrix, const std::vector<int>& elements, int nodes);
  ~BlockScatter();
  BlockScatter(BlockScatter&&) noexcept;
  BlockScatter& operator=(BlockScatter&&) noexcept;

  /// Returns true if the scatter was built for the pattern of `matrix`.
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
