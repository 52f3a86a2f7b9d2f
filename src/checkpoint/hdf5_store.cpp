// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/hdf5_store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"

namespace diffsim {

Hdf5Store::Hdf5Store(MPI_Comm comm, const std::string& directory)
    : directory_(std::make_shared<CheckpointDirectory>(comm, directory)), order_(comm) {}

Hdf5Store::Hdf5Store(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, bool single)
    : directory_(std::move(directory)), order_(order), single_(single) {}

Hdf5Store::~Hdf5Store() = default;

std::string Hdf5Store::path(int step) const { return directory_->file_of(snapshot_kind, step); }

void Hdf5Store::put(int step, const State& state) {
  const ProfilingRegion region("diffsim::checkpoint::put");
  steps_.insert(step);
  if (directory_->claim(snapshot_kind, step)) return;  // the sweep's own, of the same state
  directory_->write(snapshot_kind, step, order_.to_file("/state", state, single_));
}

void Hdf5Store::get(int step, State& state) {
  const ProfilingRegion region("diffsim::checkpoint::get");
  if (steps_.count(step) == 0) throw Error("no snapshot of step " + std::to_string(step) + " in " + directory_->path());
  const Hdf5File file = directory_->open(snapshot_kind, step);
  order_.from_file(file, "/state", state);
}

void Hdf5Store::erase(int step) {
  if (steps_.erase(step) > 0) directory_->erase(snapshot_kind, step);
}

}  // namespace diffsim
