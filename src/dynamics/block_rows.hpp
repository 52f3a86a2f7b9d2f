// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscmat.h>

#include <cstddef>
#include <vector>

namespace diffsim::dynamics {

/// The pattern of a sequential AIJ matrix by runs of three columns that the `height` rows of a block row share. Block
/// row i has runs begin[i] … begin[i + 1] - 1; column: where in x a run begins. Its entries are row after row, the
/// first at 3 height begin[i].
struct BlockRows {
  int height = 0, rows = 0;
  std::vector<int> begin, column;
  std::vector<int> filled;  ///< block rows that have runs
};

/// Asks for what lies 8 KiB beyond `count` values that are to be read once, which need not exist. Three rows at once
/// are no stream that a processor foresees; and not as far as the first cache, which has few places for lines on their
/// way.
template <class T>
void fetch_ahead(const T* values, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t line = 64 / sizeof(T), ahead = 128 * line;
  for (std::ptrdiff_t k = ahead; k < ahead + count; k += line) __builtin_prefetch(values + k, 0, 2);
}

/// The pattern by runs; its height is 0 where it is not one of blocks of that height.
BlockRows find_block_rows(Mat matrix, int height);

/// y = A x, or y += A x; values as AIJ keeps them.
void multiply(const BlockRows& rows, const double* values, const double* x, double* y, bool add);
/// y += Aᵀ x.
void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y);

}  // namespace diffsim::dynamics
