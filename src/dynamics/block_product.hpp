// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <vector>

#include "dynamics/block_rows.hpp"

namespace diffsim::dynamics {

/// Whether products read the values themselves, or copies of half the size; they are summed in double precision.
enum class Precision { full, single };

/// Gives a host AIJ matrix products that know its blocks: y = A x, y = z + A x and y = Aᵀ x of each rank's parts. Where
/// the rows of a block row have the same columns, in runs of three, an index is read for three columns of all the rows
/// rather than for an entry. Others keep PETSc's products, as do other types.
///
/// PETSc's own are compiled for whatever processor a distribution supports; these for the one at hand. To be called
/// again whenever the pattern may have changed, which costs nothing where it has not, and for copies the values.
void use_block_products(Mat matrix, Precision precision = Precision::full);

/// Products in full precision for the operators and interpolations of all levels of a multigrid preconditioner that has
/// been set up.
void use_block_products(PC pc);

/// The parts of a host AIJ matrix by blocks: columns of this rank's rows, and of other ranks', which are numbered by
/// `columns`, in threes. No parts where a rank's are not all of 3×3 blocks.
struct MatrixBlocks {
  std::shared_ptr<const BlockRows> own, others;
  std::vector<PetscInt> columns;
  Mat own_part = nullptr, others_part = nullptr;
  /// Shows the values of both, as AIJ keeps them.
  void visit_values(const std::function<void(const double* own, const double* others)>& visit) const;
};
/// Collective.
MatrixBlocks find_blocks(Mat matrix);

}  // namespace diffsim::dynamics
