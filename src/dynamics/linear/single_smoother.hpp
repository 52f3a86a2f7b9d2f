// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include "core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Replaces the smoothers of a multigrid preconditioner, which must have been set up, by Chebyshev iterations in single
/// precision. The coarsest multigrid level keeps its solver, a factorisation in double precision.
///
/// A Chebyshev iteration covers the eigenvalues of D⁻¹A in an interval [b/11, b], where A is the operator of a
/// multigrid level and D is the preconditioner of the Chebyshev iteration. The bound b is 1.1 λ, where λ is the
/// estimated largest eigenvalue of D⁻¹A; on the finest level b is at least `least_bound`. PETSc's option
/// -mg_levels_ksp_max_it sets the number of steps of the Chebyshev iteration. D consists of the 3×3 diagonal blocks of
/// A on the finest level, and is the diagonal of A on the coarser levels. On coarser levels, the diagonal of A has
/// zeros at aggregates of one or two vertices, which have fewer than six independent rigid motions; D has ones in place
/// of these zeros. Each step of the Chebyshev iteration reads a single-precision copy of the level's operator once; the
/// values of the copy take half the memory of the operator's values. Residuals, interpolations and restrictions are
/// also computed with single-precision copies of matrices. `smooth_in_single_precision` does not replace the operator
/// of the Krylov method, so the single-precision smoothers do not limit the accuracy of the solution.
///
/// `least_bound`: smallest permitted bound b on the finest level. An estimate of the largest eigenvalue from ten
/// iterations of conjugate gradients misses the large eigenvalues that the barriers of a few contact pairs cause in a
/// mesh of many cells. Eigenvalues of D⁻¹A above b may make the multigrid preconditioner indefinite.
///
/// A level keeps PETSc's smoother if the level's operator is not a host AIJ matrix of 3×3 blocks, if the smoother's
/// preconditioner D has no finite inverse, if the estimate of the largest eigenvalue fails, or if options choose the
/// smoother (-mg_levels_ksp_type, -mg_levels_pc_type, -mg_levels_ksp_chebyshev_esteig,
/// -mg_levels_ksp_chebyshev_eigenvalues, -mg_levels_esteig_ksp_type, -diffsim_single_smoother 0). Call
/// `smooth_in_single_precision` after each possible set-up of the preconditioner; the call is cheap if the
/// preconditioner is unchanged. The transpose of a preconditioner with single-precision smoothers cannot be applied.
/// Returns true if the finest multigrid level has the single-precision smoother. Collective.
bool smooth_in_single_precision(PC pc, double least_bound = 0.0);

/// Copies the values of `matrix` to the single-precision smoother of the finest level of `pc`; does nothing if the
/// finest level has PETSc's smoother. `update_finest_level` changes neither the smoothers of the coarser levels nor the
/// bounds of the eigenvalues that the smoother of the finest level covers. The diagonal blocks of the finest level's
/// smoother are recomputed only if `with_diagonal` is true. Collective.
void update_finest_level(PC pc, Mat matrix, bool with_diagonal);

/// Returns the single-precision operator of the finest level, for products with vectors, or nullptr if the finest level
/// has PETSc's smoother.
Mat finest_operator(PC pc);

/// Sets the norm of the right-hand side of the next solve. The smoothers divide right-hand sides by the largest power
/// of two that does not exceed `norm`, so that values are in the range of single precision.
void set_smoothed_norm(PC pc, double norm);

}  // namespace diffsim::dynamics
