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

/// Frames of a trajectory that a resumed run continues: the frames of a file up to a step.
struct EarlierFrames {
  std::string path;
  std::vector<std::int64_t> steps;  ///< in ascending order
  State state;                      ///< buffer for one frame
};

/// Returns the names of the regions that the scene fixes or moves, each once, in the order of the scene.
std::vector<std::string> fixed_or_moved_regions(const Scene& scene);

/// Returns the value of the attribute `scene` of a trajectory: hashes of the sections that determine the run.
/// Collective.
std::string scene_of_run(const Job& job);

/// Writes a run to trajectory.h5 and trajectory.xdmf: one frame every `output.every` steps and one for the last state.
/// `roll` runs the rollout and passes each state to the given observer. If `roll` fails, or `stop` requests a stop on
/// any rank, the frames so far are published and marked as not complete; after a stop request, the last frame is the
/// state that was reached. Returns for example "stopped at step 12 of 100 by SIGTERM", or an empty string if the run
/// was completed. The coordinates of joints are in `/joints`, those of robots in `/bodies/ROBOT/joints`, and
/// reactions and contact forces, if the scene asks for them, in `/reaction/REGION` and `/contact/A|B`. Frames of
/// `earlier` are copied first. Collective.
std::string record_trajectory(Job& job, DifferentiableScene& solver,
                              const std::function<void(const StateObserver&)>& roll, const StopRequest* stop = nullptr,
                              EarlierFrames* earlier = nullptr);

}  // namespace diffsim::app
