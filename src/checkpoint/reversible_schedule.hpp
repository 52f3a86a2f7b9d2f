// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Checkpointing schedule without snapshots, for Models that can undo a step (`Model::step_back`). The forward run
/// advances to the last state without records. The reverse run undoes one step at a time, and computes the adjoint of
/// the step after the step is undone. Each step is executed once forward and once backward in time.
class ReversibleSchedule : public Schedule {
 public:
  explicit ReversibleSchedule(int num_steps) : num_steps_(num_steps), next_(num_steps) {}
  std::string name() const override { return "reversible"; }
  Action next() override;
  bool goes_back() const override { return true; }

 private:
  int num_steps_;
  int next_;  // steps from `next_` on are already reversed
  bool advanced_ = false, recorded_ = false;
};

}  // namespace diffsim
