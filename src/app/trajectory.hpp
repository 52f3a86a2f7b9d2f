// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/stop_request.hpp"
#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/io/trajectory.hpp"

namespace diffsim::app {

/// Frames that a resumed run copies from the trajectory file of the stopped run before writing new frames.
struct EarlierFrames {
  std::string path;
  std::vector<std::int64_t> steps;  ///< step numbers of the frames, in ascending order
  State state;                      ///< buffer for one frame
};

/// Returns the names of the regions that the scene fixes or moves, without duplicates, in the order of the scene.
std::vector<std::string> fixed_or_moved_regions(const Scene& scene);

/// Returns the value of the attribute `scene` of a trajectory: hashes of all sections of the scene that influence the
/// motion. Collective.
std::string scene_of_run(const Job& job);

/// Adds the reactions and the sensor values that the scene requests to each frame of `writer`, as the datasets
/// `/reaction/REGION` and `/sensors/NAME`. Collective.
void add_sensors(TrajectoryWriter& writer, const Job& job, DifferentiableScene& solver);

/// Arguments of the last call of a TangentObserver: the state, the derivative of the state along a change of the
/// parameters (`tangent`), and the change of the parameters (`direction`).
struct TangentFrame {
  const State* state = nullptr;
  const State* tangent = nullptr;
  const ParameterSet* direction = nullptr;
};
/// Variant of `add_sensors` for frames with derivatives: adds the datasets of `add_sensors`, and the datasets
/// `/reaction/REGION_tangent` and `/sensors/NAME_tangent` with the derivatives of reactions and sensor values along
/// `frame.direction`. `frame` must contain the state that `writer` writes, and must outlive `writer`. Collective.
void add_sensors_with_tangents(TrajectoryWriter& writer, const Job& job, DifferentiableScene& solver,
                               const TangentFrame& frame);

/// Writes a run to trajectory.h5 and trajectory.xdmf: one frame every `output.every` steps, and one frame for the last
/// state. `roll` runs the rollout and passes each state to the observer that is the argument of `roll`. If `roll`
/// fails, or `stop` requests a stop on any rank, trajectory.h5 keeps the frames written so far, and the attribute
/// `complete` of trajectory.h5 is 0. After a stop request, the last frame in trajectory.h5 is the last computed state.
/// Returns a text such as "stopped at step 12 of 100 by SIGTERM" if the run was stopped, and an empty string if the run
/// was completed. The coordinates of the scene's joints are written to `/joints`, and the coordinates of a robot's
/// joints to `/bodies/ROBOT/joints`. Reactions, values of sensors and contact forces, if the scene requests these
/// quantities, are written to `/reaction/REGION`, `/sensors/NAME` and, for the bodies or obstacles A and B,
/// `/contact/A|B`. If `earlier` is not nullptr, the frames of `earlier` are copied to trajectory.h5 before `roll` is
/// called. Collective.
std::string record_trajectory(Job& job, DifferentiableScene& solver,
                              const std::function<void(const StateObserver&)>& roll, const StopRequest* stop = nullptr,
                              EarlierFrames* earlier = nullptr);

}  // namespace diffsim::app
