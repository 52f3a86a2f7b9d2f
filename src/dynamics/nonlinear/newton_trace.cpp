// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/nonlinear/newton_trace.hpp"

namespace diffsim::dynamics {

void NewtonTrace::add(const Field& y, double step, bool projected) {
  const auto place = static_cast<std::size_t>(count_++ % room_);
  if (place == held_.size()) {
    held_.push_back({y.clone(), step, projected});
    return;
  }
  NewtonIteration& iteration = held_[place];
  iteration.y.copy_from(y);
  iteration.step = step;
  iteration.projected = projected;
}

}  // namespace diffsim::dynamics
