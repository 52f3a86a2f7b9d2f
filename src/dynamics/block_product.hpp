// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

namespace diffsim::dynamics {

/// Gives a host AIJ matrix products that know its blocks: y = A x, y = z + A x and y = Aᵀ x of each rank's parts. Where
/// the rows of a block row have the same columns, in runs of three, an index is read for three columns of all the rows
/// rather than for an entry. Others keep PETSc's products, as do other types.
///
/// PETSc's own are compiled for whatever processor a distribution supports; these for the one at hand. To be called
/// again whenever values or pattern may have changed: it costs nothing where they have not.
void use_block_products(Mat matrix);

/// Likewise for the operators and interpolations of all levels of a multigrid preconditioner that has been set up.
void use_block_products(PC pc);

}  // namespace diffsim::dynamics
