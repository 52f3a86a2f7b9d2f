// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/block_rows.hpp"

#include <algorithm>
#include <cstddef>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"

// Vectors of four pass between functions of one file only: without AVX there is no other code to agree with.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace diffsim::dynamics {
namespace {

constexpr int ahead = 4;  // block rows that are fetched before they are needed

using HostRows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
using Four [[gnu::vector_size(32)]] = double;

Four load_four(const double* x) {
  Four four;
  __builtin_memcpy(&four, x, sizeof(four));
  return four;
}
/// Three values and a zero; reads nothing beyond the three.
Four load_three(const double* x) { return Four{x[0], x[1], x[2], 0.0}; }
double sum(const Four& x) { return (x[0] + x[1]) + x[2]; }

/// sums += the products of three rows of `runs` runs with x; a: of the first, rows are `length` apart. `load` may read
/// one value beyond a run.
template <class Load>
void add_rows(int runs, const int* column, const double* a, std::ptrdiff_t length, const double* x, double* sums,
              const Load& load) {
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
  for (int r = 0; r < 3; ++r) sums[r] += sum(even[r] + odd[r]);
}

}  // namespace

BlockRows find_block_rows(Mat matrix, int height) {
  PetscInt count = 0;
  const PetscInt *ia = nullptr, *ja = nullptr;
  PetscBool done = PETSC_FALSE;
  DIFFSIM_PETSC(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &count, &ia, &ja, &done));
  if (!done) return {};
  BlockRows found{height, static_cast<int>(count) / height, {0}, {}, {}};
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
  const int count = static_cast<int>(rows.filled.size()), last = count - 1;
  Kokkos::parallel_for("diffsim::dynamics::block_product", HostRows(0, count), [=, &rows](int stored) {
    const int i = all ? stored : rows.filled[static_cast<std::size_t>(stored)];
    const int first = rows.begin[static_cast<std::size_t>(i)];
    const int runs = rows.begin[static_cast<std::size_t>(i) + 1] - first;
    const int* const column = rows.column.data() + first;
    const std::ptrdiff_t length = 3 * static_cast<std::ptrdiff_t>(runs), size = 3 * std::ptrdiff_t{rows.height};
    // Three rows at once are no stream that a processor foresees.
    if (i + ahead < rows.rows) {
      const double* line = values + size * rows.begin[static_cast<std::size_t>(i + ahead)];
      const double* const end = values + size * rows.begin[static_cast<std::size_t>(i + ahead) + 1];
      for (; line < end; line += 8) __builtin_prefetch(line);
    }
    const double* const a = values + size * first;
    double* const target = y + static_cast<std::ptrdiff_t>(rows.height) * i;
    for (int r = 0; r < rows.height; r += 3) {
      double sums[3] = {};
      if (stored < last)
        add_rows(runs, column, a + r * length, length, x, sums, load_four);
      else  // nothing lies beyond the last row
        add_rows(runs, column, a + r * length, length, x, sums, load_three);
      for (int c = 0; c < 3; ++c) target[r + c] = add ? target[r + c] + sums[c] : sums[c];
    }
  });
}

void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y) {
  // Block rows write to the same places, so one thread works them all.
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
