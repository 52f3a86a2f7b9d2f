// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>

#include "diffsim/checkpoint/checkpoint_directory.hpp"
#include "diffsim/checkpoint/store.hpp"

namespace diffsim {

/// Snapshots on disk, one HDF5 file each (`step_000012.h5`), for states that memory does not hold. They are written in
/// the background; a file appears whole or not at all, and `get` verifies every byte of it. Every member is collective.
class Hdf5Store : public Store {
 public:
  /// A directory of its own, which goes with it; made if it is not there. InputError where it cannot be written to.
  Hdf5Store(MPI_Comm comm, const std::string& directory);
  /// In a directory that others use too. `format.single`: positions and velocities are rounded to float32 on the disk,
  /// and so the gradient has an error.
  Hdf5Store(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, SnapshotFormat format = {});
  ~Hdf5Store() override;

  std::string name() const override { return "hdf5"; }
  void put(int step, const State& state) override;
  void get(int step, State& state) override;
  void erase(int step) override;
  StoreStatistics statistics() const override { return directory_->statistics(); }

  /// The file of a snapshot that is there.
  std::string path(int step) const;

 private:
  std::shared_ptr<CheckpointDirectory> directory_;
  RowOrder order_;
  std::string kind_of(const State& state) const;
  SnapshotFormat format_;
  struct Snapshot {
    std::string kind;
    std::vector<std::shared_ptr<const Entities>> entities;  // of each field
  };
  std::map<int, Snapshot> snapshots_;
};

/// The kinds of snapshots in a CheckpointDirectory: whole ones, such as were rounded to float32, and states together
/// with their derivatives, which a SweepJournal does not know.
inline constexpr const char* snapshot_kind = "step";
inline constexpr const char* rounded_kind = "rounded";
inline constexpr const char* joined_kind = "joined";

}  // namespace diffsim
