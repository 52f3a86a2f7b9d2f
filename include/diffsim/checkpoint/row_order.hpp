// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/io/background_writer.hpp"

namespace diffsim {

/// How the numbers of a snapshot stand in a file.
struct SnapshotFormat {
  bool single = false;      ///< rounded to float32
  bool compressed = false;  ///< without loss
};

/// Layout of states and parameters in files. Values of entities that have places in files stand in the order of these
/// places, so that any number of ranks can read them. Values of other entities stand rank after rank, and are read by
/// as many ranks as wrote them. Collective.
class RowOrder {
 public:
  explicit RowOrder(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }

  /// `GROUP/NAME` for each field, and what reading it needs.
  std::vector<FileArray> to_file(const std::string& group, const State& state, SnapshotFormat format = {}) const;
  void from_file(const Hdf5File& file, const std::string& group, State& state) const;

  /// A gradient on its way: global entries are this rank's shares, which other numbers of ranks take as their
  /// sum.
  std::vector<FileArray> to_file(const std::string& group, const ParameterSet& gradient) const;
  void from_file(const Hdf5File& file, const std::string& group, ParameterSet& gradient) const;

  /// Numbers of which each rank has its share.
  FileArray shares(const std::string& dataset, const std::vector<double>& values) const;
  /// This rank's share; where the number of ranks is another, the first rank has the sum and the others nothing.
  std::vector<double> read_shares(const Hdf5File& file, const std::string& dataset, std::size_t count) const;

  /// Checksums that tell one set of values from another. `exact` is the same for the same bits, whatever the ranks; of
  /// `sums`, two for each field: a weighted sum, and the size of its terms.
  struct Signature {
    std::uint64_t exact = 0;
    std::vector<double> sums;
  };
  Signature signature(const State& state, const ParameterSet& parameters) const;

 private:
  FileArray array(const std::string& dataset, const Field& field) const;
  void read(const Hdf5File& file, const std::string& dataset, Field& field) const;

  MPI_Comm comm_;
};

/// Whether two signatures are of equal values; of values equal up to rounding where `same_ranks` is false.
bool agree(const RowOrder::Signature& a, const RowOrder::Signature& b, bool same_ranks);

}  // namespace diffsim
