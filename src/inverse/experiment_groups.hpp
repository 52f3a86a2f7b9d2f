// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace diffsim {

/// Loss of one experiment, and a derivative of this loss: the gradient, or a product of the Hessian with a vector.
struct Contribution {
  double loss = 0.0;
  std::vector<double> derivative;  ///< this rank's part
};

/// Groups of processes that evaluate experiments at the same time. Each group has a communicator, on which the
/// experiments of the group are evaluated one after the other. All ranks share the values of the unknowns, so vectors
/// of derivatives have entries on the first rank of each group only. All functions are collective over all groups.
class ExperimentGroups {
 public:
  /// `all`: communicator of all groups. `group`: communicator of this rank's group. `numbers`: numbers of the
  /// experiments of this group. Throws Error (input) unless each number from 0 on belongs to exactly one group.
  ExperimentGroups(MPI_Comm all, MPI_Comm group, std::vector<int> numbers);
  ~ExperimentGroups();
  ExperimentGroups(const ExperimentGroups&) = delete;
  ExperimentGroups& operator=(const ExperimentGroups&) = delete;

  /// Returns the contributions of all groups, by the number of the experiment. `own`: contributions of this group, in
  /// the order of `numbers`.
  std::vector<Contribution> gather(const std::vector<Contribution>& own) const;
  /// Returns, on the first rank of each group, the argument `values` of the first rank of the group that has experiment
  /// 0; on other ranks, the rank's own argument.
  std::vector<double> of_first(std::vector<double> values) const;
  /// Returns the largest `value` of all ranks.
  double largest(double value) const;
  /// Calls `function`. If the call throws an Error in some group, throws an Error with the same message and kind on all
  /// ranks; if several groups throw, the Error is that of the lowest rank in the communicator of all groups.
  void agree(const std::function<void()>& function) const;

 private:
  MPI_Comm all_, group_, roots_ = MPI_COMM_NULL;  // roots_: first ranks of all groups; MPI_COMM_NULL on other ranks
  std::vector<int> numbers_;
  int total_ = 0;       // number of experiments of all groups
  int first_root_ = 0;  // rank in roots_ of the group that has experiment 0
};

}  // namespace diffsim
