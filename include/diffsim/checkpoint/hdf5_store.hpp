// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <set>
#include <string>

#include "diffsim/checkpoint/store.hpp"

namespace diffsim {

/// Snapshots on disk, one HDF5 file each (`step_000012.h5`), written by all ranks together; for states that memory does
/// not hold. A file appears whole or not at all, and `get` verifies checksums. Every member is collective.
class Hdf5Store : public Store {
 public:
  /// Makes `directory` if it is not there; InputError where it cannot be written to.
  Hdf5Store(MPI_Comm comm, const std::string& directory);
  Hdf5Store(const Hdf5Store&) = delete;
  Hdf5Store& operator=(const Hdf5Store&) = delete;
  /// Removes its snapshots, and the directory if it made it and nothing else is there.
  ~Hdf5Store() override;

  std::string name() const override { return "hdf5"; }
  void put(int step, const State& state) override;
  void get(int step, State& state) override;
  void erase(int step) override;
  StoreStatistics statistics() const override { return statistics_; }

  /// The file of a snapshot.
  std::string path(int step) const;

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  std::string directory_;
  std::string first_made_;  // the outermost directory that did not exist before
  std::int64_t id_ = 0;     // tells this store's files from another's
  std::set<int> steps_;
  StoreStatistics statistics_;
};

}  // namespace diffsim
