// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <vector>

#include "dynamics/linear/block_rows.hpp"

namespace diffsim::dynamics {

/// Precision in which products read a matrix: `full` reads the values in double precision, `single` reads copies of the
/// values in single precision. Products of matrices and vectors compute sums in double precision in both cases.
enum class Precision { full, single };

/// Replaces PETSc's products y = A x, y = z + A x and y = Aᵀ x of the two sequential parts (diagonal and off-diagonal)
/// of a host AIJ matrix by products that exploit blocks. The number of rows of a block row is the block size of the
/// matrix. The products require that the block size is a multiple of three, that all rows of a block row have nonzeros
/// in the same columns, and that these columns form runs of three consecutive columns. The products read one index for
/// three columns of a whole block row, instead of one index per entry. PETSc's products remain in use for parts without
/// this structure, and for matrices of types other than host AIJ.
///
/// A packaged PETSc is compiled for a generic processor; diffsim's products are compiled for the processor type that
/// the build of diffsim selects. Call `use_block_products` again whenever the sparsity pattern of the matrix may have
/// changed; the call is cheap if the sparsity pattern has not changed. With `Precision::single`, call
/// `use_block_products` again whenever the values of the matrix have changed.
void use_block_products(Mat matrix, Precision precision = Precision::full);

/// Overload of `use_block_products` for a multigrid preconditioner that has been set up: sets products in full
/// precision for the operators and interpolations of all levels. Does nothing if `pc` is not a multigrid
/// preconditioner.
void use_block_products(PC pc);

/// Block structure of the two sequential parts of a host AIJ matrix. `own` and `own_part`: sparsity pattern and matrix
/// of the diagonal part, which has the columns of this rank's unknowns. `others` and `others_part`: sparsity pattern
/// and matrix of the off-diagonal part, which has columns of other ranks' unknowns. `columns`: global indices of the
/// columns of the off-diagonal part, in groups of three consecutive columns. All pointers of a MatrixBlocks are nullptr
/// if the parts of the matrix on some rank do not consist of 3×3 blocks.
struct MatrixBlocks {
  std::shared_ptr<const BlockRows> own, others;
  std::vector<PetscInt> columns;
  Mat own_part = nullptr, others_part = nullptr;
  /// Calls the function `visit` with the addresses of the values of the matrices `own_part` and `others_part`, which
  /// are stored row after row. The argument `others` of `visit` is nullptr if the matrix `others_part` is nullptr.
  void visit_values(const std::function<void(const double* own, const double* others)>& visit) const;
};
/// Returns the block structure of a matrix. All pointers of the result are nullptr if the matrix does not consist of
/// 3×3 blocks. Collective.
MatrixBlocks find_blocks(Mat matrix);

}  // namespace diffsim::dynamics
