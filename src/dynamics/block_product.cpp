// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/block_product.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/petsc_handle.hpp"

namespace diffsim::dynamics {
namespace {

constexpr const char* key = "diffsim_block_rows";

constexpr int ahead = 4;  // block rows that are fetched before they are needed

using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
using Four [[gnu::vector_size(32)]] = double;

/// The pattern of a sequential AIJ matrix by runs of three columns that the `height` rows of a block row share. Block
/// row i has runs begin[i] … begin[i + 1] - 1; column: where in x a run begins. Its entries are row after row, the
/// first at 3 height begin[i].
struct BlockRows {
  int height = 0, rows = 0;
  PetscObjectState state = 0;  // of the pattern
  std::vector<int> begin, column;
};

PetscErrorCode destroy(void* rows) {
  delete static_cast<BlockRows*>(rows);
  return 0;
}

BlockRows* find(Mat matrix) {
  PetscObject object = nullptr;
  void* rows = nullptr;
  if (PetscObjectQuery(reinterpret_cast<PetscObject>(matrix), key, &object) || !object) return nullptr;
  if (PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &rows)) return nullptr;
  return static_cast<BlockRows*>(rows);
}

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

/// y = A x, or y += A x.
void multiply_rows(const BlockRows& rows, const double* values, const double* x, double* y, bool add) {
  Kokkos::parallel_for("diffsim::dynamics::block_product", Rows(0, rows.rows), [=, &rows](int i) {
    const int first = rows.begin[static_cast<std::size_t>(i)];
    const int runs = rows.begin[static_cast<std::size_t>(i) + 1] - first;
    const int* const column = rows.column.data() + first;
    const std::ptrdiff_t length = 3 * static_cast<std::ptrdiff_t>(runs);
    // Three rows at once are no stream that a processor foresees.
    if (i + ahead < rows.rows) {
      const int* const begin = &rows.begin[static_cast<std::size_t>(i + ahead)];
      const double* line = values + 3 * static_cast<std::ptrdiff_t>(rows.height) * begin[0];
      const double* const end = values + 3 * static_cast<std::ptrdiff_t>(rows.height) * begin[1];
      for (; line < end; line += 8) __builtin_prefetch(line);
    }
    const double* const a = values + 3 * static_cast<std::ptrdiff_t>(rows.height) * first;
    double* const target = y + static_cast<std::ptrdiff_t>(rows.height) * i;
    for (int r = 0; r < rows.height; r += 3) {
      double sums[3] = {};
      if (i + 1 < rows.rows)
        add_rows(runs, column, a + r * length, length, x, sums, load_four);
      else  // nothing lies beyond the last row
        add_rows(runs, column, a + r * length, length, x, sums, load_three);
      for (int c = 0; c < 3; ++c) target[r + c] = add ? target[r + c] + sums[c] : sums[c];
    }
  });
}

/// y += Aᵀ x. Block rows write to the same places, so one thread works them all.
void add_transposed(const BlockRows& rows, const double* values, const double* x, double* y) {
  const double* a = values;
  for (int i = 0; i < rows.rows; ++i) {
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

/// y = z + A x, z nullptr for 0; or y = Aᵀ x.
PetscErrorCode apply(Mat matrix, Vec x, Vec z, Vec y, bool transposed) {
  const BlockRows* const rows = find(matrix);
  const PetscScalar *values = nullptr, *source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCheck(rows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "matrix without its block rows");
  if (transposed) PetscCall(VecSet(y, 0.0));
  if (z && z != y) PetscCall(VecCopy(z, y));
  PetscCall(MatSeqAIJGetArrayRead(matrix, &values));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArray(y, &target));
  if (transposed)
    add_transposed(*rows, values, source, target);
  else
    multiply_rows(*rows, values, source, target, z != nullptr);
  PetscCall(VecRestoreArray(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscCall(MatSeqAIJRestoreArrayRead(matrix, &values));
  PetscCall(PetscLogFlops(6.0 * rows->height * static_cast<double>(rows->column.size())));
  PetscFunctionReturn(0);
}
PetscErrorCode multiply(Mat matrix, Vec x, Vec y) { return apply(matrix, x, nullptr, y, false); }
PetscErrorCode multiply_add(Mat matrix, Vec x, Vec z, Vec y) { return apply(matrix, x, z, y, false); }
PetscErrorCode multiply_transposed(Mat matrix, Vec x, Vec y) { return apply(matrix, x, nullptr, y, true); }

/// The pattern by runs; without rows where it is not one of blocks.
BlockRows find_runs(PetscInt scalar_rows, const PetscInt* ia, const PetscInt* ja, int height) {
  BlockRows found{height, static_cast<int>(scalar_rows) / height, 0, {0}, {}};
  const BlockRows none;
  for (PetscInt row = 0; row < scalar_rows; row += height) {
    const PetscInt length = ia[row + 1] - ia[row];
    if (length % 3 != 0) return none;
    for (PetscInt k = ia[row]; k < ia[row + 1]; k += 3) {
      if (ja[k + 1] != ja[k] + 1 || ja[k + 2] != ja[k] + 2) return none;
      found.column.push_back(static_cast<int>(ja[k]));
    }
    for (PetscInt r = row + 1; r < row + height; ++r)
      if (ia[r + 1] - ia[r] != length || !std::equal(ja + ia[r], ja + ia[r + 1], ja + ia[row])) return none;
    found.begin.push_back(static_cast<int>(found.column.size()));
  }
  return found;
}

void use_block_products_of_part(Mat part, int height) {
  if (!part || height % 3 != 0) return;
  PetscObjectState state = 0;
  DIFFSIM_PETSC(MatGetNonzeroState(part, &state));
  BlockRows* rows = find(part);
  if (!rows || rows->state != state) {
    PetscInt count = 0;
    const PetscInt *ia = nullptr, *ja = nullptr;
    PetscBool done = PETSC_FALSE;
    DIFFSIM_PETSC(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &count, &ia, &ja, &done));
    if (!done) return;
    auto blocks = std::make_unique<BlockRows>();
    if (count % height == 0) *blocks = find_runs(count, ia, ja, height);
    blocks->state = state;
    DIFFSIM_PETSC(MatRestoreRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &count, &ia, &ja, &done));
    PetscHandle<PetscContainer, PetscContainerDestroy> container;
    DIFFSIM_PETSC(PetscContainerCreate(PETSC_COMM_SELF, container.out()));
    DIFFSIM_PETSC(PetscContainerSetUserDestroy(container, destroy));
    rows = blocks.get();
    DIFFSIM_PETSC(PetscContainerSetPointer(container, blocks.release()));
    DIFFSIM_PETSC(PetscObjectCompose(reinterpret_cast<PetscObject>(part), key,
                                     reinterpret_cast<PetscObject>(static_cast<PetscContainer>(container))));
  }
  if (rows->rows == 0) return;
  const auto set = [&](MatOperation operation, auto function) {
    DIFFSIM_PETSC(MatSetOperation(part, operation, reinterpret_cast<void (*)()>(function)));
  };
  set(MATOP_MULT, multiply);
  set(MATOP_MULT_ADD, multiply_add);
  set(MATOP_MULT_TRANSPOSE, multiply_transposed);
}

}  // namespace

void use_block_products(Mat matrix) {
  if (!matrix) return;
  MatType type = nullptr;
  DIFFSIM_PETSC(MatGetType(matrix, &type));
  PetscInt height = 1;
  DIFFSIM_PETSC(MatGetBlockSizes(matrix, &height, nullptr));
  const auto part = [&](Mat of) { use_block_products_of_part(of, static_cast<int>(height)); };
  if (std::string(type) == MATSEQAIJ) part(matrix);
  if (std::string(type) != MATMPIAIJ) return;
  Mat own = nullptr, others = nullptr;
  DIFFSIM_PETSC(MatMPIAIJGetSeqAIJ(matrix, &own, &others, nullptr));
  part(own);
  part(others);
}

void use_block_products(PC pc) {
  PetscBool multigrid = PETSC_FALSE;
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &multigrid, PCMG, PCGAMG, ""));
  if (!multigrid) return;
  PetscInt levels = 0;
  DIFFSIM_PETSC(PCMGGetLevels(pc, &levels));
  for (PetscInt level = 0; level < levels; ++level) {
    KSP smoother = nullptr;
    Mat matrix = nullptr;
    DIFFSIM_PETSC(PCMGGetSmoother(pc, level, &smoother));
    DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, nullptr));
    use_block_products(matrix);
    if (level == 0) continue;
    DIFFSIM_PETSC(PCMGGetInterpolation(pc, level, &matrix));
    use_block_products(matrix);
  }
}

}  // namespace diffsim::dynamics
