// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// Binomial checkpointing: the fewest repeated steps for a number of snapshots, the initial state being one of them,
/// and among those schedules one with the fewest stores. (A. Griewank, A. Walther, Algorithm 799, ACM TOMS 26, 2000.)
///
/// With r the least number with R·C(s+r, s) ≥ n it advances t(n, s) = r·n − R·C(s+r, r−1) steps, no step more than r
/// times, and records every step once; R is the number of records that may be held at a time, 1 in the literature.
class RevolveSchedule : public Schedule {
 public:
  RevolveSchedule(int num_steps, int snapshots, int records = 1);
  /// Steps begin … end-1 only. `kept` are the snapshots there are, in ascending order, the first that of state `begin`;
  /// where there are none, state `begin` is present.
  RevolveSchedule(int begin, int end, int snapshots, int records, std::vector<int> kept);

  std::string name() const override { return "revolve"; }
  Action next() override;

 private:
  int begin_;
  int end_;  // steps from here on are reversed
  int snapshots_;
  int records_;
  int present_;  // number of the present state, -1 if it is of no use
  bool recorded_ = false;
  std::vector<int> kept_;
};

/// t(n, s) as above.
long revolve_advances(int num_steps, int snapshots, int records = 1);

}  // namespace diffsim
