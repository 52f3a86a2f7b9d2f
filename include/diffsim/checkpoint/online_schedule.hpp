// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/checkpoint/revolve_schedule.hpp"

namespace diffsim {

/// For a rollout of unknown length: advances a step at a time until `finish` says that the present state is the last;
/// then reverses from the snapshots there are, the gaps between them binomially.
///
/// At any length no step is advanced more often than it must be: r times, the least r with C(s+r, s) ≥ n+1. No schedule
/// that learns of the end at state n can advance fewer than t(n+1, s) steps (it is n+1 steps reversed, the last one for
/// nothing); this one advances at most r·n. (Q. Wang, P. Moin, G. Iaccarino, Minimal repetition dynamic checkpointing
/// algorithm for unsteady adjoint calculation, SIAM J. Sci. Comput. 31, 2009.)
class OnlineSchedule : public Schedule {
 public:
  explicit OnlineSchedule(int snapshots);
  std::string name() const override { return "online"; }
  Action next() override;
  bool is_open() const override { return !backward_; }
  /// Between two actions, state `num_steps` being present.
  void finish(int num_steps) override;

 private:
  struct Snapshot {
    int step;
    int rank;  // it may go when a later one has a higher rank
  };
  int dispensable() const;

  int snapshots_;
  Snapshot present_{0, std::numeric_limits<int>::max()};
  std::vector<Snapshot> kept_;
  std::optional<RevolveSchedule> backward_;
};

}  // namespace diffsim
