// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/block_product.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/huge_pages.hpp"
#include "dynamics/linear/single_blocks.hpp"

namespace diffsim::dynamics {
namespace {

constexpr const char* key = "diffsim_block_rows";

/// Block structure of one sequential part of a matrix (the part with this rank's columns, or the part with columns of
/// other ranks), with copies of the values in single precision if requested.
struct Blocks {
  std::shared_ptr<const BlockRows> rows;
  PetscObjectState pattern = 0;
  std::unique_ptr<SingleBlocks> single, transposed;
  /// PETSc's functions for the operations that `use_block_products` replaces, in the order of `replaced`; nullptr while
  /// these functions are in use.
  std::array<void (*)(), 3> of_petsc{};
};
constexpr std::array<MatOperation, 3> replaced{MATOP_MULT, MATOP_MULT_ADD, MATOP_MULT_TRANSPOSE};

PetscObject object_of(Mat matrix) { return reinterpret_cast<PetscObject>(matrix); }

PetscErrorCode destroy(void* blocks) {
  delete static_cast<Blocks*>(blocks);
  return 0;
}

Blocks* find(Mat part) {
  PetscObject object = nullptr;
  void* blocks = nullptr;
  if (PetscObjectQuery(object_of(part), key, &object) || !object) return nullptr;
  if (PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &blocks)) return nullptr;
  return static_cast<Blocks*>(blocks);
}

/// Computes y = z + A x, where z = nullptr stands for 0, or y = Aᵀ x if `transposed`.
PetscErrorCode apply(Mat part, Vec x, Vec z, Vec y, bool transposed) {
  const Blocks* const blocks = find(part);
  const PetscScalar *values = nullptr, *source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCheck(blocks && blocks->rows->height > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "matrix without its block rows");
  if (transposed || (blocks->single && !z)) PetscCall(VecSet(y, 0.0));
  if (z && z != y) PetscCall(VecCopy(z, y));
  PetscCall(MatSeqAIJGetArrayRead(part, &values));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArray(y, &target));
  if (blocks->single)
    add_product(transposed ? *blocks->transposed : *blocks->single, source, target);
  else if (transposed)
    add_transposed(*blocks->rows, values, source, target);
  else
    multiply(*blocks->rows, values, source, target, z != nullptr);
  PetscCall(VecRestoreArray(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscCall(MatSeqAIJRestoreArrayRead(part, &values));
  PetscCall(PetscLogFlops(6.0 * blocks->rows->height * static_cast<double>(blocks->rows->column.size())));
  PetscFunctionReturn(0);
}
PetscErrorCode multiply_vector(Mat part, Vec x, Vec y) { return apply(part, x, nullptr, y, false); }
PetscErrorCode multiply_add(Mat part, Vec x, Vec z, Vec y) { return apply(part, x, z, y, false); }
PetscErrorCode multiply_transposed(Mat part, Vec x, Vec y) { return apply(part, x, nullptr, y, true); }

/// Requests huge pages for the values of a part, because reading these values from memory limits the speed of products.
void keep_in_huge_pages(Mat part) {
  MatInfo info;
  DIFFSIM_PETSC(MatGetInfo(part, MAT_LOCAL, &info));
  const PetscScalar* values = nullptr;
  DIFFSIM_PETSC(MatSeqAIJGetArrayRead(part, &values));
  advise_huge_pages(const_cast<PetscScalar*>(values), static_cast<std::size_t>(info.nz_used) * sizeof(PetscScalar));
  DIFFSIM_PETSC(MatSeqAIJRestoreArrayRead(part, &values));
}

/// Returns the block structure of a part, recomputed if the part's sparsity pattern has changed. Returns nullptr if the
/// part does not consist of blocks.
Blocks* blocks_of_part(Mat part, PetscInt height) {
  if (!part || height % 3 != 0) return nullptr;
  PetscObjectState pattern = 0;
  DIFFSIM_PETSC(MatGetNonzeroState(part, &pattern));
  Blocks* blocks = find(part);
  if (!blocks || blocks->pattern != pattern) {
    auto fresh = std::make_unique<Blocks>();
    fresh->rows = std::make_shared<const BlockRows>(find_block_rows(part, static_cast<int>(height)));
    fresh->pattern = pattern;
    if (blocks) fresh->of_petsc = blocks->of_petsc;
    keep_in_huge_pages(part);
    PetscHandle<PetscContainer, PetscContainerDestroy> container;
    DIFFSIM_PETSC(PetscContainerCreate(PETSC_COMM_SELF, container.out()));
    DIFFSIM_PETSC(PetscContainerSetUserDestroy(container, destroy));
    blocks = fresh.get();
    DIFFSIM_PETSC(PetscContainerSetPointer(container, fresh.release()));
    DIFFSIM_PETSC(PetscObjectCompose(object_of(part), key,
                                     reinterpret_cast<PetscObject>(static_cast<PetscContainer>(container))));
  }
  return blocks->rows->height == 0 ? nullptr : blocks;
}

/// Puts PETSc's products of a part back in use, if `use_block_products` has replaced these products.
void restore_products(Mat part) {
  Blocks* const blocks = part ? find(part) : nullptr;
  if (!blocks || !blocks->of_petsc[0]) return;
  for (std::size_t i = 0; i < replaced.size(); ++i)
    DIFFSIM_PETSC(MatSetOperation(part, replaced[i], blocks->of_petsc[i]));
  blocks->of_petsc = {};
}

void use_block_products_of_part(Mat part, PetscInt height, Precision precision) {
  Blocks* const blocks = blocks_of_part(part, height);
  if (!blocks) return restore_products(part);
  PetscInt columns = 0;
  DIFFSIM_PETSC(MatGetLocalSize(part, nullptr, &columns));
  blocks->single.reset();
  if (precision == Precision::single && columns % 3 == 0) {
    const PetscScalar* values = nullptr;
    DIFFSIM_PETSC(MatSeqAIJGetArrayRead(part, &values));
    blocks->single = std::make_unique<SingleBlocks>(make_single_blocks(*blocks->rows, values, 1.0));
    DIFFSIM_PETSC(MatSeqAIJRestoreArrayRead(part, &values));
    blocks->transposed = std::make_unique<SingleBlocks>(transposed(*blocks->single, static_cast<int>(columns) / 3));
  }
  const auto function = [](auto of_diffsim) { return reinterpret_cast<void (*)()>(of_diffsim); };
  const std::array of_diffsim{function(multiply_vector), function(multiply_add), function(multiply_transposed)};
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    if (!blocks->of_petsc[i]) DIFFSIM_PETSC(MatGetOperation(part, replaced[i], &blocks->of_petsc[i]));
    DIFFSIM_PETSC(MatSetOperation(part, replaced[i], of_diffsim[i]));
  }
}

struct Parts {
  Mat own = nullptr, others = nullptr;
  const PetscInt* columns = nullptr;
  PetscInt height = 1;
};
/// Returns the sequential parts of a MATSEQAIJ or MATMPIAIJ matrix. Both parts are nullptr for other types.
Parts parts_of(Mat matrix) {
  Parts parts;
  MatType type = nullptr;
  DIFFSIM_PETSC(MatGetType(matrix, &type));
  DIFFSIM_PETSC(MatGetBlockSizes(matrix, &parts.height, nullptr));
  if (std::string(type) == MATSEQAIJ) parts.own = matrix;
  if (std::string(type) == MATMPIAIJ)
    DIFFSIM_PETSC(MatMPIAIJGetSeqAIJ(matrix, &parts.own, &parts.others, &parts.columns));
  return parts;
}

/// Returns true if columns form groups of three that begin at multiples of three, both in the local numbering and, if
/// `numbered`, in the global numbering `columns`.
bool in_threes(const BlockRows& rows, const std::vector<PetscInt>& columns, bool numbered) {
  for (const int column : rows.column)
    if (column % 3 != 0) return false;
  for (std::size_t k = 0; numbered && k < columns.size(); ++k)
    if (columns[k] % 3 != static_cast<PetscInt>(k % 3)) return false;
  return !numbered || columns.size() % 3 == 0;
}

}  // namespace

void use_block_products(Mat matrix, Precision precision) {
  if (!matrix) return;
  const Parts parts = parts_of(matrix);
  for (Mat part : {parts.own, parts.others}) use_block_products_of_part(part, parts.height, precision);
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

void MatrixBlocks::visit_values(const std::function<void(const double*, const double*)>& visit) const {
  const PetscScalar *of_own = nullptr, *of_others = nullptr;
  DIFFSIM_PETSC(MatSeqAIJGetArrayRead(own_part, &of_own));
  if (others_part) DIFFSIM_PETSC(MatSeqAIJGetArrayRead(others_part, &of_others));
  visit(of_own, of_others);
  if (others_part) DIFFSIM_PETSC(MatSeqAIJRestoreArrayRead(others_part, &of_others));
  DIFFSIM_PETSC(MatSeqAIJRestoreArrayRead(own_part, &of_own));
}

MatrixBlocks find_blocks(Mat matrix) {
  const Parts parts = parts_of(matrix);
  if (!parts.own) return {};
  MatrixBlocks found;
  found.own_part = parts.own;
  found.others_part = parts.others;
  int good = 1;
  const Blocks* const own = blocks_of_part(parts.own, parts.height);
  if (own) found.own = own->rows;
  good = own && in_threes(*own->rows, {}, false);
  if (parts.others) {
    PetscInt count = 0;
    DIFFSIM_PETSC(MatGetSize(parts.others, nullptr, &count));
    found.columns.assign(parts.columns, parts.columns + count);
    const Blocks* const others = blocks_of_part(parts.others, parts.height);
    if (others) found.others = others->rows;
    good = good && others && in_threes(*others->rows, found.columns, true);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, PetscObjectComm(object_of(matrix))));
  return good ? found : MatrixBlocks{};
}

}  // namespace diffsim::dynamics
