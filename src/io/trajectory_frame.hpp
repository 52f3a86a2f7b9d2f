// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Name of the attribute that identifies, in a trajectory file, the scene of the simulation run.
inline constexpr const char* scene_attribute = "scene";

/// Step numbers of the frames in a trajectory file, and attributes of the file.
struct TrajectoryFrames {
  std::vector<std::int64_t> steps;
  std::string scene;         ///< value of the attribute `scene` of the file; empty if the attribute does not exist
  bool is_complete = false;  ///< false if the run that wrote the file did not reach its last step
};
/// Reads the step numbers of the frames in a trajectory file. Throws InputError if `path` is not a trajectory file.
/// Collective.
TrajectoryFrames trajectory_frames(MPI_Comm comm, const std::string& path);

/// Sets the fields of `state` at vertices to the values of a frame that TrajectoryWriter wrote: the frame of step
/// `step`, or the last frame if `step` is -1. Returns the step number of the frame that was read. Fields of `state` on
/// entities other than vertices are unchanged. Throws InputError if the trajectory file belongs to another mesh, has no
/// frame of step `step` (the error message names the nearest steps), or lacks a vertex field of `state`. Collective.
int read_trajectory_frame(const TetrahedralMesh& mesh, const std::string& path, int step, State& state);

}  // namespace diffsim
