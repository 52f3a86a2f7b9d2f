// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscmat.h>

#include <cstddef>
#include <vector>

namespace diffsim::dynamics {

/// Sparsity pattern of a sequential AIJ matrix, stored as runs of three consecutive columns. A BlockRows describes a
/// matrix of `rows` block rows; a block row consists of `height` matrix rows, which have the same runs of columns.
/// Block row i has the runs begin[i] … begin[i + 1] - 1, and column[k] is the first column of run k. The values of
/// block row i are stored row after row, beginning at the index 3 · height · begin[i].
struct BlockRows {
  int height = 0, rows = 0;
  std::vector<int> begin, column;
  std::vector<int> filled;  ///< indices of the block rows that are not empty
};

/// Prefetches `count` values that begin 8 KiB after the address `values`. `fetch_ahead` is intended for arrays of which
/// each value is read once. The prefetched addresses need not be valid. Software prefetching is needed because the
/// hardware prefetcher does not recognise the access pattern of matrix-vector products, which read three matrix rows at
/// once. Values are prefetched to the second-level cache only, because the first-level cache supports few outstanding
/// loads.
template <class T>
void fetch_ahead(const T* values, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t line = 64 / sizeof(T), ahead = 128 * line;
  for (std::ptrdiff_t k = ahead; k < ahead + count; k += line) __builtin_prefetch(values + k, 0, 2);
}

/// Returns the sparsity pattern of `matrix` as runs of three consecutive columns, in block rows of `height` matrix rows
/// each. The member `height` of the returned BlockRows is 0 if the matrix rows of some block row do not consist of the
/// same runs of columns.
BlockRows find_block_rows(Mat matrix, int height);

/// Computes y = A x, or y += A x if `add` is true, for the matrix A with the sparsity pattern `rows`. `values`: values
/// of the matrix A, stored row after row.
void multiply(const BlockRows& rows, const double* values, const double* x, double* y, bool add);
/// Adds Aᵀ x to y, for the matrix A with the sparsity pattern `rows`. `values`: values of the matrix A, stored row
/// after row.
void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y);

}  // namespace diffsim::dynamics
