// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Name of the attribute, of a trajectory file, whose value identifies the scene of the run.
inline constexpr const char* scene_attribute = "scene";

/// Steps of the frames in a trajectory file.
struct TrajectoryFrames {
  std::vector<std::int64_t> steps;
  std::string scene;         ///< attribute `scene`; empty if the file does not have the attribute
  bool is_complete = false;  ///< false if the run that wrote the file ended early
};
/// Reads the steps of a trajectory file. Throws InputError if `path` is not a trajectory. Collective.
TrajectoryFrames trajectory_frames(MPI_Comm comm, const std::string& path);

/// Sets the fields of `state` at vertices to the values of a frame that TrajectoryWriter wrote: the frame of step
/// `step`, or the last frame if `step` is -1. Returns the step of the frame. Fields on entities other than vertices are
/// unchanged. Throws InputError if the file belongs to another mesh, does not have the step (the message names the
/// nearest steps), or lacks a field of the state. Collective.
int read_trajectory_frame(const TetrahedralMesh& mesh, const std::string& path, int step, State& state);

}  // namespace diffsim
