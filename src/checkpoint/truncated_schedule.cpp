// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/truncated_schedule.hpp"

#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

using Kind = Action::Kind;

}  // namespace

TruncatedSchedule::TruncatedSchedule(int skipped, std::unique_ptr<Schedule> last)
    : skipped_(skipped), last_(std::move(last)) {
  if (last_->is_open())
    throw Error("the " + last_->name() +
                    " schedule does not know which steps are the last; use another schedule, or reverse all steps",
                ErrorKind::input);
}

Action TruncatedSchedule::next() {
  if (!std::exchange(begun_, true) && skipped_ > 0) return {Kind::advance, 0, skipped_};
  Action action = last_->next();
  if (action.kind == Kind::done) return action;
  action.begin += skipped_;
  const bool of_snapshot = action.kind == Kind::store || action.kind == Kind::restore || action.kind == Kind::discard;
  if (!of_snapshot) action.end += skipped_;
  return action;
}

}  // namespace diffsim
