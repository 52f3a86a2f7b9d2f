// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// Reverses the last steps only, another schedule being followed among them. The state they begin with is taken for
/// given, so what comes out is not the gradient but what the last steps contribute to it.
class TruncatedSchedule : public Schedule {
 public:
  /// `last`: of the steps after the first `skipped`. Throws Error (input) where it does not know their number.
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
