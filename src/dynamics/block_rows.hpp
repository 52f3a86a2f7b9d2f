// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscmat.h>

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

/// The pattern by runs; its height is 0 where it is not one of blocks of that height.
BlockRows find_block_rows(Mat matrix, int height);

/// y = A x, or y += A x; values as AIJ keeps them.
void multiply(const BlockRows& rows, const double* values, const double* x, double* y, bool add);
/// y += Aᵀ x.
void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y);

}  // namespace diffsim::dynamics
