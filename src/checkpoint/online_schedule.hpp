// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/revolve_schedule.hpp"

namespace diffsim {

/// Schedule for a rollout whose number of steps is unknown beforehand. The schedule advances one step at a time until
/// `finish` ends the rollout at the present state. After the call of `finish`, the schedule computes the adjoints of
/// the steps in reverse order, starting from the existing snapshots, with binomial checkpointing (RevolveSchedule)
/// between two snapshots.
///
/// For s snapshots and any number n of steps, let r be the least integer for which the binomial coefficient C(s+r, s)
/// is at least n+1. The schedule executes each step at most r times without a record before the step is recorded, and
/// thus executes at most r·n steps without a record in total. No schedule for an unknown number of steps can guarantee
/// a smaller r: a schedule that learns only at state n that the rollout ends at state n must choose its snapshots as
/// for a rollout of n+1 steps whose last step costs nothing. Such a schedule executes at least t(n+1, s) steps without
/// a record, where t(n, s) is the least number of these executions for a known number n of steps (`revolve_advances`).
///
/// Source: Q. Wang, P. Moin, G. Iaccarino, Minimal repetition dynamic checkpointing algorithm for unsteady adjoint
/// calculation, SIAM Journal on Scientific Computing 31, 2009.
class OnlineSchedule : public Schedule {
 public:
  explicit OnlineSchedule(int snapshots);
  std::string name() const override { return "online"; }
  Action next() override;
  bool is_open() const override { return !backward_; }
  /// Ends the rollout at state `num_steps`. `finish` must be called between two calls of `next`, when state `num_steps`
  /// is the present state.
  void finish(int num_steps) override;

 private:
  struct Snapshot {
    int step;
    // Not an MPI rank: a snapshot may be discarded if a later snapshot or the present state has a higher `rank`.
    int rank;
  };
  int dispensable() const;

  int snapshots_;
  Snapshot present_{0, std::numeric_limits<int>::max()};
  std::vector<Snapshot> kept_;
  std::optional<RevolveSchedule> backward_;
};

}  // namespace diffsim
