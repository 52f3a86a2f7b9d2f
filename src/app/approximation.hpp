// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "app/inverse_job.hpp"

namespace diffsim::app {

/// The same, of all steps and with whole snapshots.
CheckpointOptions exact(CheckpointOptions options);

/// ∂L/∂u by a sweep of its own, that is neither told nor resumed. Collective.
std::vector<double> gradient_by(Job& job, InverseJob& inverse, CheckpointOptions options, const std::vector<double>& u);

/// ‖found - expected‖₂/‖expected‖₂ of vectors spread over ranks. Collective.
double relative_error(MPI_Comm comm, const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace diffsim::app
