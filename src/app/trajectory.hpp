// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "app/job.hpp"
#include "app/stop_request.hpp"
#include "diffsim/adjoint/sweep.hpp"

namespace diffsim::app {

/// Writes a run as trajectory.h5 and trajectory.xdmf: a frame every `output.every` steps and one of the last state.
/// `roll` runs it, and tells each state to the observer that it is given. If it fails, or `stop` asks any rank to stop,
/// the frames so far, with one of the state that was reached, are published, marked as not complete. Returns "stopped
/// at step 12 of 100 by SIGTERM", or nothing where the run went to its end. Collective.
std::string record_trajectory(Job& job, const TetrahedralMesh& mesh,
                              const std::function<void(const StateObserver&)>& roll, const StopRequest* stop = nullptr);

}  // namespace diffsim::app
