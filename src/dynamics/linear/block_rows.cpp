// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/block_rows.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstddef>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/huge_pages.hpp"

// Silences warnings about the ABI of vector arguments without AVX. Such arguments are only passed within this file.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace diffsim::dynamics {
namespace {

constexpr int runs_ahead = 128;  // prefetch distance for x, in runs of three columns

using HostRows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
using Four [[gnu::vector_size(32)]] = double;

Four load_four(const double* x) {
  Four four;
  __builtin_memcpy(&four, x, sizeof(four));
  return four;
}
/// Returns three values followed by a zero. Reads no memory beyond the three values.
Four load_three(const double* x) {
#if defined(__AVX512VL__)
  return _mm256_maskz_loadu_pd(0b111, x);
#else
  return Four{x[0], x[1], x[2], 0.0};
#endif
}
double sum(const Four& x) { return (x[0] + x[1]) + x[2]; }

/// Computes the products of three matrix rows with x. Each row has `runs` runs of three columns. `a`: values of the
/// first row; successive rows are `length` values apart. `load` may read one value beyond a run.
template <class Load>
[[gnu::always_inline]] inline void multiply_rows(int runs, const int* column, const double* a, std::ptrdiff_t length,
                                                 const double* x, double (&sums)[3], const Load& load) {
  Four even[3] = {}, odd[3] = {};
  int k = 0;
  for (; k + 1 < runs; k += 2) {
    const Four u = load_three(x + column[k]), v = load_three(x + column[k + 1]);
    for (int r = 0; r < 3; ++r) {
      even[r] += load(a + r * length + 3 * k) * u;
      odd[r] += load(a + r * length + 3 * k + 3) * v;
    }
  }
  if (k < runs)
    for (int r = 0; r < 3; ++r) even[r] += load(a + r * length + 3 * k) * load_three(x + column[k]);
  for (int r = 0; r < 3; ++r) sums[r] = sum(even[r] + odd[r]);
}

/// Arrays that a product reads and writes.
struct Product {
  int height, total;                   // rows in a block row; total number of runs
  const int *begin, *column, *filled;  // filled: nullptr if no block row is empty
  const double *values, *x;
  double* y;
  bool add;

  template <class Load>
  [[gnu::always_inline]] inline void multiply_row(int stored, const Load& load) const {
    const int i = filled ? filled[stored] : stored;
    const int first = begin[i], runs = begin[i + 1] - first;
    const std::ptrdiff_t length = 3 * static_cast<std::ptrdiff_t>(runs), size = std::ptrdiff_t{height} * length;
    const double* const a = values + 3 * std::ptrdiff_t{height} * first;
    fetch_ahead(a, size);
    const int* const next = column + std::min(first + runs_ahead, total - runs);
    for (int k = 0; k < runs; ++k) __builtin_prefetch(x + next[k]);
    double* const target = y + std::ptrdiff_t{height} * i;
    for (int r = 0; r < height; r += 3) {
      double sums[3];
      multiply_rows(runs, column + first, a + r * length, length, x, sums, load);
      for (int c = 0; c < 3; ++c) target[r + c] = add ? target[r + c] + sums[c] : sums[c];
    }
  }
};

}  // namespace

BlockRows find_block_rows(Mat matrix, int height) {
  PetscInt count = 0;
  const PetscInt *ia = nullptr, *ja = nullptr;
  PetscBool done = PETSC_FALSE;
  DIFFSIM_PETSC(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &count, &ia, &ja, &done));
  if (!done) return {};
  BlockRows found{height, static_cast<int>(count) / height, {}, {}, {}};
  reserve_in_huge_pages(found.begin, static_cast<std::size_t>(found.rows) + 1);
  reserve_in_huge_pages(found.column, static_cast<std::size_t>(ia[count] / (3 * height)));
  found.begin.push_back(0);
  bool blocks = count % height == 0;
  for (PetscInt row = 0; blocks && row < count; row += height) {
    const PetscInt length = ia[row + 1] - ia[row];
    blocks = length % 3 == 0;
    for (PetscInt k = ia[row]; blocks && k < ia[row + 1]; k += 3) {
      blocks = ja[k + 1] == ja[k] + 1 && ja[k + 2] == ja[k] + 2;
      found.column.push_back(static_cast<int>(ja[k]));
    }
    for (PetscInt r = row + 1; blocks && r < row + height; ++r)
      blocks = ia[r + 1] - ia[r] == length && std::equal(ja + ia[r], ja + ia[r + 1], ja + ia[row]);
    if (length > 0) found.filled.push_back(static_cast<int>(row) / height);
    found.begin.push_back(static_cast<int>(found.column.size()));
  }
  DIFFSIM_PETSC(MatRestoreRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &count, &ia, &ja, &done));
  return blocks ? found : BlockRows{};
}

void multiply(const BlockRows& rows, const double* values, const double* x, double* y, bool add) {
  const bool all = static_cast<int>(rows.filled.size()) == rows.rows;
  if (!all && !add) std::fill_n(y, static_cast<std::ptrdiff_t>(rows.height) * rows.rows, 0.0);
  const int count = static_cast<int>(rows.filled.size());
  if (count == 0) return;
  const Product product{rows.height,
                        static_cast<int>(rows.column.size()),
                        rows.begin.data(),
                        rows.column.data(),
                        all ? nullptr : rows.filled.data(),
                        values,
                        x,
                        y,
                        add};
  Kokkos::parallel_for("diffsim::dynamics::block_product", HostRows(0, count - 1),
                       [=](int stored) { product.multiply_row(stored, load_four); });
  product.multiply_row(count - 1, load_three);  // `load_three` does not read beyond the last row
}

void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y) {
  // Different block rows add to the same entries of y, so one thread processes all block rows.
  const double* a = values;
  for (const int i : rows.filled) {
    const int first = rows.begin[static_cast<std::size_t>(i)], last = rows.begin[static_cast<std::size_t>(i) + 1];
    const std::ptrdiff_t length = 3 * static_cast<std::ptrdiff_t>(last - first);
    for (int r = 0; r < rows.height; r += 3, a += 2 * length) {
      const double* const u = x + static_cast<std::ptrdiff_t>(rows.height) * i + r;
      for (int k = first; k < last; ++k, a += 3) {
        const Four share = load_three(a) * u[0] + load_three(a + length) * u[1] + load_three(a + 2 * length) * u[2];
        double* const target = y + rows.column[static_cast<std::size_t>(k)];
        for (int c = 0; c < 3; ++c) target[c] += share[c];
      }
    }
  }
}

}  // namespace diffsim::dynamics
