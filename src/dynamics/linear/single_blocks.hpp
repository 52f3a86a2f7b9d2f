// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <type_traits>
#include <vector>

#include "dynamics/linear/block_rows.hpp"

// Silences warnings about the ABI of vector arguments without AVX. Such arguments are only passed within this library.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace diffsim::dynamics {

/// Sparse matrix of 3×3 blocks in single precision. The stored block row i consists of the three matrix rows that begin
/// at row 3 · place[i], and has the blocks begin[i] … begin[i + 1] - 1. Block k covers the columns column[k] …
/// column[k] + 2. Empty block rows are not stored.
struct SingleBlocks {
  std::vector<int> place, begin, column;
  std::vector<float> values;  ///< 9 values per block, column after column, and a padding value at the end
  int size() const { return static_cast<int>(place.size()); }
};

/// Returns a single-precision copy of a matrix, multiplied by `scale`. `rows`: sparsity pattern of the matrix.
/// `values`: values of the matrix, stored row after row.
SingleBlocks make_single_blocks(const BlockRows& rows, const double* values, double scale);
/// Replaces the values of the matrix `blocks` by `scale` times the values of a matrix with the same sparsity pattern
/// `rows`. `values`: values of the matrix, stored row after row.
void set_values(const BlockRows& rows, const double* values, double scale, SingleBlocks& blocks);
/// Returns the transpose of the matrix `blocks`. `rows`: number of block rows of the transpose.
SingleBlocks transposed(const SingleBlocks& blocks, int rows);

template <class X>
struct FourOf {
  typedef X Type [[gnu::vector_size(4 * sizeof(X))]];
};

inline FourOf<double>::Type to_double(FourOf<float>::Type four) {
#if defined(__AVX__)
  return _mm256_cvtps_pd(four);  // GCC 12 compiles __builtin_convertvector to two conversions
#else
  return __builtin_convertvector(four, FourOf<double>::Type);
#endif
}

/// Returns the product of the stored block row `row` of the matrix `blocks` with the vector x, in the precision of x,
/// as three values and an undefined fourth value.
template <class X>
typename FourOf<X>::Type row_product(const SingleBlocks& blocks, int row, const X* x) {
  using Four = typename FourOf<X>::Type;
  const auto load = [](const float* at) {
    FourOf<float>::Type four;
    __builtin_memcpy(&four, at, sizeof(four));
    if constexpr (std::is_same_v<X, float>)
      return four;
    else
      return to_double(four);
  };
  const int* const column = blocks.column.data();
  int k = blocks.begin[static_cast<std::size_t>(row)];
  const int end = blocks.begin[static_cast<std::size_t>(row) + 1];
  const float* a = blocks.values.data() + 9 * static_cast<std::ptrdiff_t>(k);
  fetch_ahead(a, std::ptrdiff_t{9} * (end - k));
  Four even[3] = {}, odd[3] = {};
  for (; k + 1 < end; k += 2, a += 18) {
    const X *const u = x + column[k], *const v = x + column[k + 1];
    for (int c = 0; c < 3; ++c) {
      even[c] += load(a + 3 * c) * u[c];
      odd[c] += load(a + 9 + 3 * c) * v[c];
    }
  }
  if (k < end)
    for (int c = 0; c < 3; ++c) even[c] += load(a + 3 * c) * x[column[k] + c];
  return (even[0] + odd[0]) + (even[1] + odd[1]) + (even[2] + odd[2]);
}

/// Adds A x to y, where A is the matrix `blocks`.
void add_product(const SingleBlocks& blocks, const double* x, double* y);

}  // namespace diffsim::dynamics
