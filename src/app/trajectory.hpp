// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "app/job.hpp"
#include "diffsim/adjoint/sweep.hpp"

namespace diffsim::app {

/// Writes a run as trajectory.h5 and trajectory.xdmf, a frame every `output.every` steps. `roll` runs it, and tells
/// each state to the observer that it is given. If it fails, the frames so far are published, marked as not complete.
/// Collective.
void record_trajectory(Job& job, const TetrahedralMesh& mesh, const std::function<void(const StateObserver&)>& roll);

}  // namespace diffsim::app
