// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Schedule that computes the adjoints of only the last steps of a rollout, with the operations of another schedule.
/// The state at the beginning of these steps is treated as a constant. A sweep therefore computes only the contribution
/// of these steps to the gradient.
class TruncatedSchedule : public Schedule {
 public:
  /// Creates the schedule from `last`, the schedule of the steps after the first `skipped` steps. Throws Error (input)
  /// if the number of steps of `last` is unknown (`is_open`).
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
