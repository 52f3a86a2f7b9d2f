// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"

namespace diffsim {

class CheckpointDirectory;
class RowOrder;
struct CheckpointPlan;

/// Replaces each directory in `options`, including the directories of storage levels, by the subdirectory `name` of
/// this directory. Sweeps with the old and with the new options thus write snapshots to different directories.
void use_subdirectory(const std::string& name, CheckpointOptions& options);
/// Returns the number of steps at the beginning of a rollout whose adjoints are not computed
/// (`CheckpointOptions::last`).
int skipped_steps(const CheckpointOptions& options, int num_steps);
/// Returns a text that states why the gradient is approximate, for example "the gradient is that of the last 40 of 100
/// steps only (checkpoint.last)…". The text is empty if the gradient is exact.
std::string approximation_of(const CheckpointOptions& options, int num_steps);

/// Creates the schedule of `plan` if `plan` is given, otherwise the schedule `options.schedule`. `plan` is the plan for
/// `options.memory`.
std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps,
                                        const CheckpointPlan* plan = nullptr);
/// Creates the store `options.store`. If `shared` is given, HDF5 snapshots are written to this directory. Otherwise
/// they are written to `options.directory`, and the store's destructor removes the files. A tiered store uses `shared`
/// for level 1 only, and only if the options of level 1 name no directory. `order` is the order of rows in the HDF5
/// files.
std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm,
                                  std::shared_ptr<CheckpointDirectory> shared = nullptr,
                                  const RowOrder* order = nullptr);

}  // namespace diffsim
