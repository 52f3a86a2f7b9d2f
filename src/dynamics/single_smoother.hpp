// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include "diffsim/core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Gives the levels of a multigrid preconditioner that has been set up, but for the coarsest, which is factored, a
/// smoother of our own in single precision: Chebyshev's iteration over the upper nine tenths of the spectrum of D⁻¹A,
/// as many steps as the level's smoother has (-mg_levels_ksp_max_it), D the 3×3 blocks of the diagonal on the finest
/// level and the diagonal on the others: aggregates of a vertex or two have fewer motions than six, which leaves zeros
/// there that stand for ones. A step is one sweep over copies of the level's operator as it is now, which are half as
/// large; residuals, interpolation and restriction take copies too. What the Krylov method multiplies with stays as it
/// is, so the solution's accuracy does not depend on these.
///
/// `least_bound`: the finest level's spectrum reaches so far at least, whatever ten iterations see of it: barriers of a
/// few pairs among many cells are missed by these, and a bound that is exceeded makes the preconditioner indefinite.
///
/// Levels that are not host AIJ matrices of 3×3 blocks, or whose smoother options choose (-mg_levels_ksp_type,
/// -mg_levels_pc_type, -mg_levels_ksp_chebyshev_…, -diffsim_single_smoother 0), keep PETSc's. To be called again
/// whenever the preconditioner may have been set up again: it costs nothing where it has not. The preconditioner cannot
/// be applied transposed then. Returns whether the finest level has the smoother. Collective.
bool smooth_in_single_precision(PC pc, double least_bound = 0.0);

/// The preconditioner stays as it is while its matrix gets other values, which the finest level's sweeps then take; the
/// bounds of the spectrum stay, and D unless asked for. Collective.
void update_finest_level(PC pc, Mat matrix, bool with_diagonal);

/// The finest level's operator as its sweeps know it, for products; nullptr where the level is PETSc's.
Mat finest_operator(PC pc);

/// Sets the norm of the next right hand side: keeps sweeps within the range of single precision.
void set_smoothed_norm(PC pc, double norm);

}  // namespace diffsim::dynamics
