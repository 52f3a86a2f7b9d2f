// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Checkpointing schedule that computes the adjoints of only the last steps of a rollout, with the operations of
/// another schedule. The state at the beginning of the steps whose adjoints are computed is treated as a constant. A
/// gradient that is computed with a TruncatedSchedule is only the contribution of the last steps of the rollout to the
/// gradient.
class TruncatedSchedule : public Schedule {
 public:
  /// Creates a truncated schedule from `last`, the schedule of the steps after the first `skipped` steps of the
  /// rollout. Throws Error (input) if the number of steps of the schedule `last` is unknown (`is_open`).
  TruncatedSchedule(int skipped, std::unique_ptr<Schedule> last);
  std::string name() const override { return "truncated " + last_->name(); }
  Action next() override;
  int first_reversed() const override { return skipped_; }
  bool goes_back() const override { return last_->goes_back(); }

 private:
  int skipped_;
  bool begun_ = false;
  std::unique_ptr<Schedule> last_;
};

}  // namespace diffsim
