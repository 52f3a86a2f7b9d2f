// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/revolve_schedule.hpp"

namespace diffsim {

/// Schedule for a rollout whose number of steps is unknown beforehand. The schedule advances one step at a time until
/// `finish` ends the rollout at the present state. Then the schedule reverses the steps, starting from the existing
/// snapshots, with binomial checkpointing (RevolveSchedule) between two snapshots.
///
/// With s snapshots and any number n of steps, no step is advanced more than r times, where r is the least integer with
/// C(s+r, s) ≥ n+1. To advance a step is to execute the step without a record. No schedule for an unknown number of
/// steps can guarantee a smaller r. Reason: a schedule that learns only at state n that the rollout ends there must
/// choose its snapshots as for the reversal of n+1 steps, where the last step costs nothing. Such a schedule advances
/// at least t(n+1, s) steps, where t(n, s) is the least number for a known number n of steps (`revolve_advances`).
/// OnlineSchedule advances at most r·n steps. (Q. Wang, P. Moin, G. Iaccarino, Minimal repetition dynamic checkpointing
/// algorithm for unsteady adjoint calculation, SIAM J. Sci. Comput. 31, 2009.)
class OnlineSchedule : public Schedule {
 public:
  explicit OnlineSchedule(int snapshots);
  std::string name() const override { return "online"; }
  Action next() override;
  bool is_open() const override { return !backward_; }
  /// Ends the rollout at state `num_steps`. Must be called between two calls of `next`, when state `num_steps` is the
  /// present state.
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
