// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/two_level_schedule.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

using Kind = Action::Kind;

namespace {
constexpr int disk = 1;
}

TwoLevelSchedule::TwoLevelSchedule(int num_steps, int segment, int snapshots)
    : num_steps_(num_steps),
      segment_(std::min(segment, std::max(num_steps, 1))),
      snapshots_(snapshots),
      inner_(0, snapshots) {
  if (segment < 1)
    throw Error("segments of " + std::to_string(segment) + " steps: at least 1 is needed", ErrorKind::input);
  if (is_last()) begin_reversal();
}

void TwoLevelSchedule::begin_reversal() {
  stage_ = Stage::reverse;
  inner_ = RevolveSchedule(begin_, std::min(begin_ + segment_, num_steps_), snapshots_, 1, {});
}

Action TwoLevelSchedule::next() {
  switch (stage_) {
    case Stage::store:
      stage_ = Stage::advance;
      return {Kind::store, begin_, 0, disk};
    case Stage::advance: {
      stage_ = Stage::store;
      const int from = std::exchange(begin_, begin_ + segment_);
      if (is_last()) begin_reversal();
      return {Kind::advance, from, begin_};
    }
    case Stage::reverse:
      if (const Action action = inner_.next(); action.kind != Kind::done) return action;
      stage_ = Stage::restore;
      if (!is_last()) return {Kind::discard, begin_, 0, disk};
      [[fallthrough]];
    case Stage::restore:
      if (begin_ == 0) return {};
      begin_ -= segment_;
      begin_reversal();
      return {Kind::restore, begin_, 0, disk};
  }
  return {};
}

}  // namespace diffsim
