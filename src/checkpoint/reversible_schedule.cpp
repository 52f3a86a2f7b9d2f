// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/reversible_schedule.hpp"

namespace diffsim {

Action ReversibleSchedule::next() {
  if (next_ == 0) return {};
  if (!advanced_) {
    advanced_ = true;
    return {Action::Kind::advance, 0, num_steps_};
  }
  recorded_ = !recorded_;
  if (recorded_) return {Action::Kind::back, next_ - 1, next_};
  --next_;
  return {Action::Kind::reverse, next_, next_ + 1};
}

}  // namespace diffsim
