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
/// this directory. A sweep with the options that `use_subdirectory` has changed writes snapshots to other directories
/// than a sweep with the original options.
void use_subdirectory(const std::string& name, CheckpointOptions& options);
/// Returns the number of steps at the beginning of a rollout for which no adjoint is computed
/// (`CheckpointOptions::last`).
int skipped_steps(const CheckpointOptions& options, int num_steps);
/// Returns a text that states why the gradient is approximate, for example "the gradient is that of the last 40 of 100
/// steps only (checkpoint.last)…". The text is empty if the gradient is exact.
std::string approximation_of(const CheckpointOptions& options, int num_steps);

/// Creates the schedule of `plan` if `plan` is given, otherwise the schedule `options.schedule`. `plan`: checkpointing
/// plan for the memory budget `options.memory`, or nullptr.
std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps,
                                        const CheckpointPlan* plan = nullptr);
/// Creates the store `options.store`. If `shared` is given, HDF5 snapshots are written to the directory `shared`. If
/// `shared` is nullptr, HDF5 snapshots are written to `options.directory`, and the store's destructor removes the files
/// of the snapshots. A tiered store uses the directory `shared` for storage level 1 only, and only if the options of
/// level 1 name no directory. `order`: order of the rows of datasets in the HDF5 files.
std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm,
                                  std::shared_ptr<CheckpointDirectory> shared = nullptr,
                                  const RowOrder* order = nullptr);

}  // namespace diffsim
