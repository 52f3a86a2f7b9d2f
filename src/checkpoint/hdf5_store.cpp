// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/hdf5_store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"

namespace diffsim {

Hdf5Store::Hdf5Store(MPI_Comm comm, const std::string& directory)
    : Hdf5Store(std::make_shared<CheckpointDirectory>(comm, directory), RowOrder(comm)) {}

Hdf5Store::Hdf5Store(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, SnapshotFormat format)
    : directory_(std::move(directory)),
      order_(order),
      format_(format),
      kind_(format.single ? rounded_kind : snapshot_kind) {}

Hdf5Store::~Hdf5Store() = default;

std::string Hdf5Store::path(int step) const { return directory_->file_of(kind_, step); }

void Hdf5Store::put(int step, const State& state) {
  const ProfilingRegion region("diffsim::checkpoint::put");
  steps_.insert(step);
  if (directory_->claim(kind_, step)) return;  // the sweep's own, of the same state
  directory_->write(kind_, step, order_.to_file("/state", state, format_));
}

void Hdf5Store::get(int step, State& state) {
  const ProfilingRegion region("diffsim::checkpoint::get");
  if (steps_.count(step) == 0) throw Error("no snapshot of step " + std::to_string(step) + " in " + directory_->path());
  const Hdf5File file = directory_->open(kind_, step);
  order_.from_file(file, "/state", state);
}

void Hdf5Store::erase(int step) {
  if (steps_.erase(step) > 0) directory_->erase(kind_, step);
}

}  // namespace diffsim
