// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace diffsim {

/// Loss of one experiment, or of those windows of a rollout (multiple shooting) that one group of processes evaluates,
/// and a derivative of this loss: the gradient, or a product of the Hessian with a vector.
struct Contribution {
  double loss = 0.0;
  std::vector<double> derivative;  ///< this rank's part
};

/// Groups of processes that evaluate experiments (see InverseProblem::share_experiments), or windows of multiple
/// shooting (see InverseProblem::share_windows), at the same time. Each group has a communicator, on which the
/// experiments of the group are evaluated one after the other. The values of the unknowns are the same on all ranks.
/// The first rank of each group stores the vectors of derivatives with respect to the unknowns; on other ranks, vectors
/// of derivatives are empty. All functions except `count` and `numbers` are collective over all groups.
///
/// For groups that share windows, all windows of a group count as one experiment, whose number is the number of the
/// group.
class ProcessGroups {
 public:
  /// `all`: communicator of all groups. `group`: communicator of this rank's group. `numbers`: numbers of the
  /// experiments of this rank's group among the experiments of all groups. Throws Error (input) unless the experiments
  /// of all groups have the numbers 0, 1, 2, …, each number once.
  ProcessGroups(MPI_Comm all, MPI_Comm group, std::vector<int> numbers);
  ~ProcessGroups();
  ProcessGroups(const ProcessGroups&) = delete;
  ProcessGroups& operator=(const ProcessGroups&) = delete;

  /// Returns the contributions (loss and derivative) of the experiments of all groups, in the order of the experiments'
  /// numbers. `own`: contributions of this group's experiments, in the order of the constructor's argument `numbers`.
  std::vector<Contribution> gather(const std::vector<Contribution>& own) const;
  /// Broadcasts `values` to the first ranks of all groups, from the first rank of the group that has experiment 0, and
  /// returns the received values. Other ranks return their own `values`.
  std::vector<double> of_first(std::vector<double> values) const;
  /// Returns on all ranks the argument `value` of the first rank of the group that has experiment 0.
  double of_first(double value) const;
  /// Returns the sum of the arguments `value` of the first ranks of all groups. The result is bitwise identical on all
  /// ranks.
  double sum(double value) const;
  /// Returns the maximum of the argument `value` over all ranks of all groups.
  double largest(double value) const;
  /// Calls `function`. If `function` throws an Error on some ranks, `agree` throws an Error with the same message and
  /// kind on all ranks of all groups. If `function` throws on several ranks, `agree` throws the Error of the lowest
  /// rank in the communicator of all groups on which `function` has thrown.
  void agree(const std::function<void()>& function) const;

  int count() const { return total_; }                          ///< number of experiments of all groups
  const std::vector<int>& numbers() const { return numbers_; }  ///< numbers of this group's experiments

 private:
  MPI_Comm all_, group_, roots_ = MPI_COMM_NULL;  // roots_: first ranks of all groups; MPI_COMM_NULL on other ranks
  std::vector<int> numbers_;
  int total_ = 0;       // number of experiments of all groups
  int first_root_ = 0;  // rank in roots_ of the group that has experiment 0
  int first_rank_ = 0;  // rank in all_ of the first rank of the group that has experiment 0
};

}  // namespace diffsim
