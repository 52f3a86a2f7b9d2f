// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>

#include "checkpoint/checkpoint_directory.hpp"
#include "checkpoint/store.hpp"

namespace diffsim {

/// Store of snapshots on disk, one HDF5 file for each snapshot, for example `step_000012.h5`, for snapshots that do not
/// fit into memory. The file of a snapshot is written in the background under a temporary name, and gets the final name
/// when the file is complete. The function `get` verifies the checksum of the file from which a snapshot is read. All
/// member functions of Hdf5Store are collective.
class Hdf5Store : public Store {
 public:
  /// Creates a store of snapshots with a CheckpointDirectory that no other object uses. The constructor creates the
  /// directory `directory` if it does not exist; the destructor removes the files of the snapshots and, if the
  /// constructor created the directory, the directory. Throws Error (input) if the directory `directory` is not
  /// writable.
  Hdf5Store(MPI_Comm comm, const std::string& directory);
  /// Creates a store in a directory that is shared with other objects. If `format.single` is true, the values of
  /// snapshots are rounded to float32 on the disk, so the gradient is approximate.
  Hdf5Store(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, SnapshotFormat format = {});
  ~Hdf5Store() override;

  std::string name() const override { return "hdf5"; }
  void put(int step, const State& state) override;
  void get(int step, State& state) override;
  void erase(int step) override;
  StoreStatistics statistics() const override { return directory_->statistics(); }

  /// Path of the file that contains the snapshot of state `step`.
  std::string path(int step) const;

 private:
  std::shared_ptr<CheckpointDirectory> directory_;
  RowOrder order_;
  std::string kind_of(const State& state) const;
  SnapshotFormat format_;
  struct Snapshot {
    std::string kind;
    std::vector<std::shared_ptr<const Entities>> entities;  // entities of each field
  };
  std::map<int, Snapshot> snapshots_;
};

/// Kinds of snapshots in a CheckpointDirectory: states in full precision, states rounded to float32, and states stored
/// together with their derivatives along a direction. A SweepJournal does not use files of the kind `joined_kind`.
inline constexpr const char* snapshot_kind = "step";
inline constexpr const char* rounded_kind = "rounded";
inline constexpr const char* joined_kind = "joined";

}  // namespace diffsim
