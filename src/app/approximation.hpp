// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "app/inverse_job.hpp"

namespace diffsim::app {

/// Returns a copy of `options` with two changes that make the gradient exact: the adjoints of all steps are computed
/// (option `last` = 0), and snapshots have double precision.
CheckpointOptions exact(CheckpointOptions options);

/// Returns the gradient ∂L/∂u of the loss L, priors included, at the vector `u` of unknowns. The gradient is computed
/// by a separate forward run and reverse run with the checkpoint options `options`. The runs save no progress on the
/// disk, so an interrupted computation cannot be resumed. Collective.
std::vector<double> gradient_by(Job& job, InverseJob& inverse, CheckpointOptions options, const std::vector<double>& u);

/// Returns ‖found - expected‖₂/‖expected‖₂ for vectors that are distributed over the ranks; 0 if `expected` is zero.
/// Collective.
double relative_error(MPI_Comm comm, const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace diffsim::app
