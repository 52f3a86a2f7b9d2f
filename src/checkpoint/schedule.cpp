// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule.hpp"

#include <algorithm>

#include "diffsim/core/error.hpp"

namespace diffsim {

using Kind = Action::Kind;

void Schedule::finish(int num_steps) {
  throw Error("the " + name() + " schedule cannot end at step " + std::to_string(num_steps) +
              ": its number of steps is fixed in advance; use the online schedule");
}

Action AllSchedule::next() {
  if (num_steps_ > 0 && stage_ < 2) return {stage_++ == 0 ? Kind::record : Kind::reverse, 0, num_steps_};
  return {};
}

UniformSchedule::UniformSchedule(int num_steps, int every) : num_steps_(num_steps), every_(every) {
  if (every_ < 1)
    throw Error("checkpoint every " + std::to_string(every_) + " steps: it must be at least 1", ErrorKind::input);
}

Action UniformSchedule::next() {
  if (num_steps_ == 0 || segment_ < 0) return {};
  const int begin = segment_ * every_;
  const int end = std::min(begin + every_, num_steps_);
  if (forward_ && end < num_steps_) {
    if (stage_++ == 0) return {Kind::store, begin, 0};
    stage_ = 0;
    ++segment_;
    return {Kind::advance, begin, end};
  }
  if (forward_) {
    forward_ = false;
    stage_ = 2;  // the last segment starts from the present state
  }
  switch (stage_++) {
    case 0:
      return {Kind::restore, begin, 0};
    case 1:
      return {Kind::discard, begin, 0};
    case 2:
      return {Kind::record, begin, end};
    default:
      stage_ = 0;
      --segment_;
      return {Kind::reverse, begin, end};
  }
}

}  // namespace diffsim
