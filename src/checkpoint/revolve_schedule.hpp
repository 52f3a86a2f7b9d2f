// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Binomial checkpointing: schedule with the fewest repeated steps for n steps and s snapshots, one of which is the
/// initial state. Among the schedules with the fewest repeated steps, RevolveSchedule stores the fewest snapshots.
/// Source: A. Griewank, A. Walther, Algorithm 799, ACM TOMS 26, 2000.
///
/// For n steps, s snapshots and at most R records in memory at the same time (R = 1 in the literature), let r be the
/// least integer with R·C(s+r, s) ≥ n, where C is the binomial coefficient. The schedule executes t(n, s) = r·n −
/// R·C(s+r, r−1) steps without a record in total. Each step is executed at most r times without a record, and once with
/// a record.
class RevolveSchedule : public Schedule {
 public:
  RevolveSchedule(int num_steps, int snapshots, int records = 1);
  /// Creates a schedule for the steps begin … end-1 of a rollout. `kept` contains the numbers of the states of existing
  /// snapshots, in ascending order; the first number is `begin`. If `kept` is empty, the state in memory at the start
  /// of the schedule is state `begin`.
  RevolveSchedule(int begin, int end, int snapshots, int records, std::vector<int> kept);

  std::string name() const override { return "revolve"; }
  Action next() override;

 private:
  int begin_;
  int end_;  // steps from `end_` on are already reversed
  int snapshots_;
  int records_;
  int present_;  // number of the present state; -1: the present state cannot be used
  bool recorded_ = false;
  std::vector<int> kept_;
};

/// Returns t(n, s) of RevolveSchedule for n = `num_steps`, s = `snapshots` and R = `records`: the number of steps that
/// the schedule executes without a record.
long revolve_advances(int num_steps, int snapshots, int records = 1);

}  // namespace diffsim
