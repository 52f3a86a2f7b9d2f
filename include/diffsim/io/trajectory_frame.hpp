// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Frames of a trajectory file.
struct TrajectoryFrames {
  std::vector<std::int64_t> steps;
  bool is_complete = false;  ///< false: the run that wrote the file ended early
};
/// Throws InputError where `path` is no trajectory. Collective.
TrajectoryFrames trajectory_frames(MPI_Comm comm, const std::string& path);

/// Sets the vertex fields of `state` to those of a frame that TrajectoryWriter wrote: step `step`, or the last frame
/// for -1. Returns the frame's step. Fields on other things than vertices stay as they are. Throws InputError where the
/// file is of another mesh, has no such step (naming those nearest), or lacks a field of the state. Collective.
int read_trajectory_frame(const TetrahedralMesh& mesh, const std::string& path, int step, State& state);

}  // namespace diffsim
