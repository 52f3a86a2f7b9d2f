// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/forecast.hpp"

namespace diffsim {

SweepForecast forecast(Schedule& schedule, int num_steps) {
  SweepForecast result;
  result.num_steps = num_steps;
  result.left.assign(static_cast<std::size_t>(num_steps), 0);
  int present = 0;
  for (bool is_over = false; !is_over;) {
    if (schedule.is_open() && present == num_steps) schedule.finish(num_steps);
    const Action action = schedule.next();
    switch (action.kind) {
      case Action::Kind::restore:
        present = action.begin;
        break;
      case Action::Kind::advance:
      case Action::Kind::record:
        present = action.end;
        result.steps += action.end - action.begin;
        break;
      case Action::Kind::back:
        present = action.begin;
        ++result.steps;
        break;
      case Action::Kind::reverse:
        for (int n = action.begin; n < action.end; ++n) result.left[static_cast<std::size_t>(n)] = result.steps;
        break;
      case Action::Kind::done:
        is_over = true;
        break;
      case Action::Kind::store:
      case Action::Kind::discard:
        break;
    }
  }
  result.first = schedule.first_reversed();
  for (long& left : result.left) left = result.steps - left;
  return result;
}

}  // namespace diffsim
