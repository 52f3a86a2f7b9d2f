// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <vector>

#include "dynamics/linear/block_rows.hpp"

namespace diffsim::dynamics {

/// Precision in which products read a matrix: `full` reads values in double precision, `single` reads copies in single
/// precision. Sums are in double precision in both cases.
enum class Precision { full, single };

/// Replaces PETSc's products y = A x, y = z + A x and y = Aᵀ x of the two sequential parts (diagonal and off-diagonal)
/// of a host AIJ matrix by products that exploit blocks. A block row consists of as many rows as the block size of the
/// matrix. If all rows of a block row have nonzeros in the same columns, and these columns form runs of three
/// consecutive columns, the products read one index for three columns of the whole block row, instead of one index per
/// entry. Parts without this structure and matrices of other types keep PETSc's products.
///
/// A packaged PETSc is compiled for a generic processor, but these products are compiled for the processor type that
/// this library's build selects. This function must be called again whenever the sparsity pattern may have changed. The
/// call is cheap if the sparsity pattern has not changed. With `Precision::single`, call this function again whenever
/// the values have changed.
void use_block_products(Mat matrix, Precision precision = Precision::full);

/// Overload of `use_block_products` for a multigrid preconditioner that has been set up: sets products in full
/// precision for the operators and interpolations of all levels. Does nothing if `pc` is not a multigrid
/// preconditioner.
void use_block_products(PC pc);

/// Block structure of the two sequential parts of a host AIJ matrix. `own` and `own_part`: part with the columns of
/// this rank's unknowns (diagonal part). `others` and `others_part`: part with columns of other ranks (off-diagonal
/// part). `columns`: global indices of the columns of the off-diagonal part, in groups of three. All pointers are
/// nullptr if the parts of some rank do not consist of 3×3 blocks.
struct MatrixBlocks {
  std::shared_ptr<const BlockRows> own, others;
  std::vector<PetscInt> columns;
  Mat own_part = nullptr, others_part = nullptr;
  /// Calls `visit` with the addresses of the values of `own_part` and `others_part`, which are stored row after row.
  /// The argument `others` is nullptr if `others_part` is nullptr.
  void visit_values(const std::function<void(const double* own, const double* others)>& visit) const;
};
/// Returns the block structure of a matrix, with pointers of nullptr if the matrix has no such structure. Collective.
MatrixBlocks find_blocks(Mat matrix);

}  // namespace diffsim::dynamics
