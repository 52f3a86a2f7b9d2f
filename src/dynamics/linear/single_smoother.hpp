// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include "core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Replaces the smoothers of a multigrid preconditioner by Chebyshev iterations in single precision. The preconditioner
/// must have been set up. The coarsest level, which is factored, is unchanged.
///
/// A Chebyshev iteration covers the eigenvalues of D⁻¹A in [b/11, b], where A is the level's operator and D is a
/// preconditioner. The bound b is 1.1 λ, where λ is the estimated largest eigenvalue of D⁻¹A; on the finest level b is
/// at least `least_bound`. PETSc's option -mg_levels_ksp_max_it sets the number of steps of the iteration. On the
/// finest level D consists of the 3×3 diagonal blocks of A. On the other levels D is the diagonal of A. Aggregates of
/// one or two vertices have fewer than six rigid motions, which leaves zeros on the diagonals of coarser levels; D has
/// ones instead of these zeros. Each step of the iteration is one sweep over a single-precision copy of the level's
/// current operator. The copy takes half the memory of the operator. Residuals, interpolation and restriction use
/// single-precision copies, too. The operator of the Krylov method does not change, so the accuracy of the solution
/// does not depend on the copies.
///
/// `least_bound`: smallest permitted b on the finest level. An estimate of λ from ten iterations misses the large
/// eigenvalues that the barriers of a few contact pairs cause in a mesh of many cells. Eigenvalues above b make the
/// preconditioner indefinite.
///
/// A level keeps PETSc's smoother if its operator is not a host AIJ matrix of 3×3 blocks, or if options choose the
/// smoother (-mg_levels_ksp_type, -mg_levels_pc_type, -mg_levels_ksp_chebyshev_…, -diffsim_single_smoother 0). Call
/// this function again whenever the preconditioner may have been set up again; the call is cheap if the preconditioner
/// is unchanged. With these smoothers, the transpose of the preconditioner cannot be applied. Returns true if the
/// finest level has the single-precision smoother. Collective.
bool smooth_in_single_precision(PC pc, double least_bound = 0.0);

/// Copies the values of `matrix` to the single-precision smoother of the finest level of `pc`. The coarser levels and
/// the eigenvalue bounds of the smoother are unchanged. The diagonal blocks of the smoother are recomputed only if
/// `with_diagonal` is true. Collective.
void update_finest_level(PC pc, Mat matrix, bool with_diagonal);

/// Returns the single-precision operator of the finest level, for products, or nullptr if the level has PETSc's
/// smoother.
Mat finest_operator(PC pc);

/// Sets the norm of the next right-hand side. The smoothers divide right-hand sides by about this norm, so that values
/// are in the range of single precision.
void set_smoothed_norm(PC pc, double norm);

}  // namespace diffsim::dynamics
