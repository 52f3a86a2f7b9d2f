// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"
#include "io/background_writer.hpp"

namespace diffsim {

/// Format of the values of a snapshot in a file.
struct SnapshotFormat {
  bool single = false;      ///< true: values are rounded to float32
  bool compressed = false;  ///< true: values are compressed without loss
};

/// Layout of states and parameters in files. If the entities of a field (such as vertices) have a FileOrder, values are
/// stored in the order that the FileOrder defines. Any number of ranks can then read the values. The value of a single
/// entity that all ranks share is stored once. Values of other entities are stored rank after rank, and can be read
/// only by the number of ranks that wrote the file. All functions that read or write values are collective.
class RowOrder {
 public:
  explicit RowOrder(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }

  /// Returns the arrays to be written to a file for a state: one array `GROUP/NAME` for each field NAME.
  std::vector<FileArray> to_file(const std::string& group, const State& state, SnapshotFormat format = {}) const;
  /// Reads the fields of a state from the arrays `GROUP/NAME`.
  void from_file(const Hdf5File& file, const std::string& group, State& state) const;

  /// Returns the arrays to be written to a file for a gradient during a sweep: one array `GROUP/NAME` for each
  /// parameter NAME. For a global parameter, the array contains the contribution of each rank, because the sum over the
  /// ranks is computed only at the end of the sweep.
  std::vector<FileArray> to_file(const std::string& group, const ParameterSet& gradient) const;
  /// Reads a gradient from the arrays `GROUP/NAME`. If the file was written by another number of ranks, the first rank
  /// receives the sum of the contributions to global parameters, and the other ranks receive zeros.
  void from_file(const Hdf5File& file, const std::string& group, ParameterSet& gradient) const;

  /// Returns an array to be written to a file, with one row per rank. `values`: row of this rank, for example its
  /// contribution to a sum.
  FileArray shares(const std::string& dataset, const std::vector<double>& values) const;
  /// Reads this rank's row, of `count` values, from an array that `shares` has returned. If the file was written by
  /// another number of ranks, returns the sum of all rows on the first rank, and zeros on the other ranks.
  std::vector<double> read_shares(const Hdf5File& file, const std::string& dataset, std::size_t count) const;

  /// Checksums that identify the values of a state and of parameters.
  struct Signature {
    std::uint64_t exact = 0;   ///< hash of the bits of all values, independent of the number of ranks
    std::vector<double> sums;  ///< for each field, a weighted sum of the values and the sum of their magnitudes
  };
  Signature signature(const State& state, const ParameterSet& parameters) const;

 private:
  FileArray array(const std::string& dataset, const Field& field) const;
  void read(const Hdf5File& file, const std::string& dataset, Field& field) const;

  MPI_Comm comm_;
};

/// Returns true if two signatures belong to equal values. `same_ranks`: true if both were computed on the same number
/// of ranks. If false, the values may differ by rounding errors: weighted sums may differ by up to 1e-12 times the sum
/// of magnitudes.
bool agree(const RowOrder::Signature& a, const RowOrder::Signature& b, bool same_ranks);

}  // namespace diffsim
