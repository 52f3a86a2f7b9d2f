// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/online_schedule.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

using Kind = Action::Kind;

OnlineSchedule::OnlineSchedule(int snapshots) : snapshots_(snapshots) {
  if (snapshots < 1)
    throw Error(std::to_string(snapshots) + " snapshots: a schedule needs at least 1, the initial state",
                ErrorKind::input);
}

// Index of the latest snapshot whose member `rank` is lower than the `rank` of a later snapshot or of the present
// state; -1 if no snapshot qualifies.
int OnlineSchedule::dispensable() const {
  int highest = present_.rank;
  for (int k = static_cast<int>(kept_.size()) - 1; k >= 0; --k) {
    if (kept_[k].rank < highest) return k;
    highest = kept_[k].rank;
  }
  return -1;
}

Action OnlineSchedule::next() {
  if (backward_) return backward_->next();
  const bool stored = !kept_.empty() && kept_.back().step == present_.step;
  if (!stored) {
    if (static_cast<int>(kept_.size()) < snapshots_) {
      kept_.push_back(present_);
      return {Kind::store, present_.step, 0};
    }
    if (const int k = dispensable(); k >= 0) {
      const int step = kept_[k].step;
      kept_.erase(kept_.begin() + k);
      return {Kind::discard, step, 0};
    }
  }
  // The member `rank` of the next state is 0 if the present state was stored, otherwise the present state's `rank` plus
  // one.
  const Snapshot from = std::exchange(present_, {present_.step + 1, stored ? 0 : present_.rank + 1});
  return {Kind::advance, from.step, present_.step};
}

void OnlineSchedule::finish(int num_steps) {
  if (backward_ || num_steps != present_.step)
    throw Error("the rollout cannot end at step " + std::to_string(num_steps) + ": the present state is " +
                std::to_string(present_.step) + (backward_ ? " or earlier; the rollout has already ended" : ""));
  std::vector<int> steps;
  steps.reserve(kept_.size());
  for (const Snapshot& snapshot : kept_) steps.push_back(snapshot.step);
  backward_.emplace(0, num_steps, snapshots_, 1, std::move(steps));
}

}  // namespace diffsim
