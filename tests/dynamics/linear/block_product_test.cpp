// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products that use the block structure of a matrix, compared with PETSc's products.

#include "dynamics/linear/block_product.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>

#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/linear/vec_testing.hpp"

namespace diffsim::dynamics::block_product_test {
namespace {

using testing_dynamics::relative_distance;
using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<Vec, VecDestroy>;

/// Returns a matrix on all ranks whose block rows of `height` have blocks of `width` at pseudo-random positions. With
/// `holes` some entries of the blocks are absent.
Mat make_matrix(PetscInt height, PetscInt width, bool holes) {
  constexpr PetscInt block_rows = 17, block_columns = 13;
  Mat matrix = nullptr;
  MatCreate(MPI_COMM_WORLD, &matrix);
  MatSetSizes(matrix, height * block_rows, width * block_columns, PETSC_DETERMINE, PETSC_DETERMINE);
  MatSetBlockSizes(matrix, height, width);
  MatSetType(matrix, MATAIJ);
  MatSetUp(matrix);
  MatSetOption(matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  PetscInt begin = 0, end = 0, columns = 0;
  MatGetOwnershipRange(matrix, &begin, &end);
  MatGetSize(matrix, nullptr, &columns);
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt block = row / height;
    for (PetscInt k = 0; k < 1 + block % 9; ++k) {  // block rows of one to nine blocks
      const PetscInt column = width * ((block * 7 + k * k * 3 + k) % (columns / width));
      for (PetscInt c = 0; c < width; ++c)
        if (!holes || (row + c + k) % 5 != 0)
          MatSetValue(matrix, row, column + c, 0.1 + static_cast<double>((row * 31 + c * 17 + k) % 23), INSERT_VALUES);
    }
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  return matrix;
}

void fill(Vec x, double seed) {
  PetscInt begin = 0, end = 0;
  VecGetOwnershipRange(x, &begin, &end);
  for (PetscInt i = begin; i < end; ++i) VecSetValue(x, i, std::sin(seed * static_cast<double>(i + 1)), INSERT_VALUES);
  VecAssemblyBegin(x);
  VecAssemblyEnd(x);
}

using Product = PetscErrorCode (*)(Mat, Vec, Vec);

Product product_of(Mat matrix) {
  Mat part = matrix;
  PetscBool parallel = PETSC_FALSE;
  PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &parallel);
  if (parallel) MatMPIAIJGetSeqAIJ(matrix, &part, nullptr, nullptr);
  void (*product)() = nullptr;
  MatGetOperation(part, MATOP_MULT, &product);
  return reinterpret_cast<Product>(product);
}

struct BlockShape {
  PetscInt height, width;
  bool holes;
};

class BlockProduct : public testing::TestWithParam<BlockShape> {};

TEST_P(BlockProduct, is_the_product) {
  const auto [height, width, holes] = GetParam();
  const MatHandle fast(make_matrix(height, width, holes)), plain(make_matrix(height, width, holes));
  EXPECT_EQ(product_of(fast), product_of(plain));
  use_block_products(fast);
  use_block_products(fast);
  EXPECT_EQ(product_of(fast) != product_of(plain), height % 3 == 0 && !holes);
  VecHandle x, y, z, u, v;
  MatCreateVecs(fast, x.out(), y.out());
  for (VecHandle* other : {&z, &u}) VecDuplicate(y, other->out());
  VecDuplicate(x, v.out());
  fill(x, 0.7);
  fill(z, 0.3);

  MatMult(fast, x, y);
  MatMult(plain, x, u);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  MatMultAdd(fast, x, z, y);
  MatMultAdd(plain, x, z, u);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  VecCopy(z, y);
  MatMultAdd(fast, x, y, y);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  MatMultTranspose(fast, z, v);
  MatMultTranspose(plain, z, x);
  EXPECT_LE(relative_distance(v, x), 1e-14);

  // New values take effect. Equal products are bitwise identical.
  MatScale(fast, 2.0);
  use_block_products(fast);
  fill(x, 0.4);
  MatMult(fast, x, y);
  MatMult(plain, x, u);
  VecScale(u, 2.0);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  MatMult(fast, x, y);
  MatMult(fast, x, u);
  EXPECT_EQ(relative_distance(y, u), 0.0);
}

TEST_P(BlockProduct, has_copies_in_single_precision) {
  const auto [height, width, holes] = GetParam();
  const MatHandle copied(make_matrix(height, width, holes)), plain(make_matrix(height, width, holes));
  use_block_products(copied, Precision::single);
  VecHandle x, y, z, u, v;
  MatCreateVecs(copied, x.out(), y.out());
  for (VecHandle* other : {&z, &u}) VecDuplicate(y, other->out());
  VecDuplicate(x, v.out());
  fill(x, 0.7);
  fill(z, 0.3);
  const bool blocks = height % 3 == 0 && !holes;
  const auto expect_near = [&](Vec of_copies, Vec of_values) {
    const double error = relative_distance(of_copies, of_values);
    EXPECT_LE(error, 1e-6);
    EXPECT_EQ(error > 1e-12, blocks);
  };
  MatMult(copied, x, y);
  MatMult(plain, x, u);
  expect_near(y, u);
  MatMultAdd(copied, x, z, y);
  MatMultAdd(plain, x, z, u);
  expect_near(y, u);
  MatMultTranspose(copied, z, v);
  MatMultTranspose(plain, z, x);
  expect_near(v, x);
}

/// Adds an entry to the first row of this rank, in the part with this rank's columns and outside of all blocks.
void add_lone_entry(Mat matrix) {
  PetscInt row = 0, first = 0, end = 0;
  MatGetOwnershipRange(matrix, &row, nullptr);
  MatGetOwnershipRangeColumn(matrix, &first, &end);
  for (PetscInt column = first + 1; column < end; column += 3) {
    PetscScalar value = 0.0;
    MatGetValues(matrix, 1, &row, 1, &column, &value);
    if (value != 0.0) continue;
    MatSetValue(matrix, row, column, 0.7, INSERT_VALUES);
    break;
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
}

TEST(BlockProductOfAChangedMatrix, is_that_of_petsc_if_the_blocks_are_lost) {
  const MatHandle fast(make_matrix(3, 3, false)), plain(make_matrix(3, 3, false));
  use_block_products(fast);
  EXPECT_NE(product_of(fast), product_of(plain));
  add_lone_entry(fast);
  add_lone_entry(plain);
  use_block_products(fast);
  EXPECT_EQ(product_of(fast), product_of(plain));
  VecHandle x, y, u, v;
  MatCreateVecs(fast, x.out(), y.out());
  VecDuplicate(y, u.out());
  VecDuplicate(x, v.out());
  fill(x, 0.7);
  MatMult(fast, x, y);
  MatMult(plain, x, u);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  MatMultAdd(fast, x, u, y);
  VecScale(u, 2.0);
  EXPECT_LE(relative_distance(y, u), 1e-14);
  MatMultTranspose(fast, y, v);
  MatMultTranspose(plain, y, x);
  EXPECT_LE(relative_distance(v, x), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(shapes, BlockProduct,
                         testing::Values(BlockShape{3, 3, false}, BlockShape{6, 6, false}, BlockShape{3, 6, false},
                                         BlockShape{6, 3, false}, BlockShape{3, 3, true}, BlockShape{2, 2, false},
                                         BlockShape{1, 1, false}));

}  // namespace
}  // namespace diffsim::dynamics::block_product_test
