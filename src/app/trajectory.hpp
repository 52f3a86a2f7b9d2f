// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/stop_request.hpp"
#include "diffsim/adjoint/sweep.hpp"

namespace diffsim::app {

/// Frames that a run goes on from: those of a file up to a step.
struct EarlierFrames {
  std::string path;
  std::vector<std::int64_t> steps;  ///< ascending
  State state;                      ///< of the shape of frames
};

/// Writes a run as trajectory.h5 and trajectory.xdmf: a frame every `output.every` steps and one of the last state.
/// `roll` runs it, and tells each state to the observer that it is given. If it fails, or `stop` asks any rank to stop,
/// the frames so far, with one of the state that was reached, are published, marked as not complete. Returns "stopped
/// at step 12 of 100 by SIGTERM", or nothing where the run went to its end. `earlier`: frames that are copied first.
/// Collective.
std::string record_trajectory(Job& job, const TetrahedralMesh& mesh,
                              const std::function<void(const StateObserver&)>& roll, const StopRequest* stop = nullptr,
                              EarlierFrames* earlier = nullptr);

}  // namespace diffsim::app
