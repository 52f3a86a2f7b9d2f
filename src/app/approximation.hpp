// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "app/inverse_job.hpp"

namespace diffsim::app {

/// Returns `options`, changed so that the gradient is exact: reversal of all steps (`last` = 0) and snapshots in double
/// precision.
CheckpointOptions exact(CheckpointOptions options);

/// Returns the gradient ∂L/∂u of the loss L, priors included, at the vector `u` of unknowns. A separate forward run and
/// reverse run with the given checkpoint options compute the gradient, and save no progress on the disk. Collective.
std::vector<double> gradient_by(Job& job, InverseJob& inverse, CheckpointOptions options, const std::vector<double>& u);

/// Returns ‖found - expected‖₂/‖expected‖₂ for vectors that are distributed over the ranks; 0 if `expected` is zero.
/// Collective.
double relative_error(MPI_Comm comm, const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace diffsim::app
