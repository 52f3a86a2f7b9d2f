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
  bool single = false;      ///< true if the values are rounded to float32
  bool compressed = false;  ///< true if the values are compressed without loss
};

/// Layout of states and parameters in files. If the entities of a field (such as vertices) have a FileOrder, values are
/// stored in the order that the FileOrder defines, and can be read by any number of ranks. The value of a single entity
/// that all ranks share is stored once. Values on entities that have no FileOrder and are not shared by all ranks are
/// stored rank after rank, and can be read only by the number of ranks that wrote the file. All functions of RowOrder
/// that read or write values are collective.
class RowOrder {
 public:
  explicit RowOrder(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }

  /// Returns the arrays to be written to a file for a state: one array `GROUP/NAME` for each field NAME, where GROUP is
  /// the argument `group`.
  std::vector<FileArray> to_file(const std::string& group, const State& state, SnapshotFormat format = {}) const;
  /// Reads the fields of a state from the arrays `GROUP/NAME`, where GROUP is the argument `group` and NAME is the name
  /// of the field.
  void from_file(const Hdf5File& file, const std::string& group, State& state) const;

  /// Returns the arrays to be written to a file for a gradient during a reverse run: one array `GROUP/NAME` for each
  /// parameter NAME, where GROUP is the argument `group`. For a global parameter, the array contains the contribution
  /// of each rank to the gradient, because the sum over the ranks is computed only at the end of the reverse run.
  std::vector<FileArray> to_file(const std::string& group, const ParameterSet& gradient) const;
  /// Reads a gradient from the arrays `GROUP/NAME`, where GROUP is the argument `group` and NAME is the name of the
  /// parameter. If the file was written by another number of ranks, the first rank receives the sum of the
  /// contributions to the gradient with respect to global parameters, and the other ranks receive zeros.
  void from_file(const Hdf5File& file, const std::string& group, ParameterSet& gradient) const;

  /// Returns an array to be written to a file, with one row per rank. `values`: row of this rank, for example the
  /// rank's contribution to a sum.
  FileArray shares(const std::string& dataset, const std::vector<double>& values) const;
  /// Reads this rank's row, of `count` values, from the array `dataset` of a file; the function `shares` must have
  /// created the array. If the file was written by another number of ranks, returns the sum of all rows of the array on
  /// the first rank, and zeros on the other ranks.
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

/// Returns true if two signatures identify equal states and equal parameters. `same_ranks`: true if both signatures
/// were computed on the same number of ranks. If `same_ranks` is false, the signatures `a` and `b` may differ by
/// rounding errors: the weighted sums of each field in `a` and in `b` may differ by up to 1e-12 times the sum of the
/// magnitudes of the field's values.
bool agree(const RowOrder::Signature& a, const RowOrder::Signature& b, bool same_ranks);

}  // namespace diffsim
