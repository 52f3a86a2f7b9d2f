// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/hdf5_store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {

Hdf5Store::Hdf5Store(MPI_Comm comm, const std::string& directory)
    : Hdf5Store(std::make_shared<CheckpointDirectory>(comm, directory), RowOrder(comm)) {}

Hdf5Store::Hdf5Store(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, SnapshotFormat format)
    : directory_(std::move(directory)), order_(order), format_(format) {}

Hdf5Store::~Hdf5Store() = default;

std::string Hdf5Store::kind_of(const State& state) const {
  for (const Field& field : state.fields())
    if (field.name().ends_with("_tangent")) return joined_kind;
  return format_.single ? rounded_kind : snapshot_kind;
}

std::string Hdf5Store::path(int step) const { return directory_->file_of(snapshots_.at(step).kind, step); }

void Hdf5Store::put(int step, const State& state) {
  const ProfilingRegion region("diffsim::checkpoint::put");
  const std::string kind = kind_of(state);
  snapshots_[step] = {kind, state.entities()};
  if (directory_->claim(kind, step)) return;  // a pinned file of the same sweep already contains this state
  directory_->write(kind, step, order_.to_file("/state", state, format_));
}

void Hdf5Store::get(int step, State& state) {
  const ProfilingRegion region("diffsim::checkpoint::get");
  const auto at = snapshots_.find(step);
  if (at == snapshots_.end()) throw Error("no snapshot of step " + std::to_string(step) + " in " + directory_->path());
  const Hdf5File file = directory_->open(at->second.kind, step);
  state.set_entities(at->second.entities);
  order_.from_file(file, "/state", state);
}

void Hdf5Store::erase(int step) {
  const auto at = snapshots_.find(step);
  if (at == snapshots_.end()) return;
  directory_->erase(at->second.kind, step);
  snapshots_.erase(at);
}

}  // namespace diffsim
