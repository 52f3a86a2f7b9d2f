// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/revolve_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

using Kind = Action::Kind;

// Returns min(β(s, r), limit). β(s, r) = C(s+r, s) is the largest number of steps that can be reversed with s snapshots
// and at most r repetitions of each step, and 0 if s or r is negative. The partial products grow at least as 2^i, so
// the loop takes O(log limit) iterations.
std::int64_t reach(std::int64_t s, std::int64_t r, std::int64_t limit) {
  if (s < 0 || r < 0) return 0;
  std::int64_t value = 1;
  for (std::int64_t i = 1; i <= std::min(s, r) && value < limit; ++i) value = value * (std::max(s, r) + i) / i;
  return std::min(value, limit);
}

// Returns the least r with R·β(s, r) ≥ length, where R = records.
std::int64_t repetitions(std::int64_t length, std::int64_t s, std::int64_t records) {
  const std::int64_t blocks = (length + records - 1) / records;
  if (s == 1) return std::max<std::int64_t>(blocks - 1, 0);
  std::int64_t low = -1;  // too few repetitions
  std::int64_t high = 1;
  while (reach(s, high, blocks) < blocks) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (reach(s, middle, blocks) < blocks ? low : high) = middle;
  }
  return blocks > 1 ? high : 0;
}

// Returns the number of steps from the first snapshot to the second in the reversal of `length` steps with `s`
// snapshots. The first snapshot is the initial state of these steps. Every number from `low` to `high` leads to the
// fewest repeated steps. Among these numbers, the returned number leads to the fewest stores.
int split(std::int64_t length, std::int64_t s, std::int64_t records) {
  const std::int64_t r = repetitions(length, s, records);
  const auto steps = [&](std::int64_t snapshots, std::int64_t repeats) {
    return records * reach(snapshots, repeats, length);
  };
  const std::int64_t low = std::max({steps(s, r - 2), length - steps(s - 1, r), std::int64_t{1}});
  const std::int64_t high = std::min({steps(s, r - 1), length - steps(s - 1, r - 1), length - 1});
  if (r == 1) return static_cast<int>(high);
  return static_cast<int>(std::clamp(length - steps(s - 1, r - 1) - steps(s - 2, r - 1), low, high));
}

void check(int snapshots, int records) {
  if (snapshots < 1)
    throw Error(std::to_string(snapshots) + " snapshots: a schedule needs at least 1, the initial state",
                ErrorKind::input);
  if (records < 1) throw Error(std::to_string(records) + " records: a schedule needs at least 1", ErrorKind::input);
}

}  // namespace

RevolveSchedule::RevolveSchedule(int num_steps, int snapshots, int records)
    : RevolveSchedule(0, num_steps, snapshots, records, {}) {}

RevolveSchedule::RevolveSchedule(int begin, int end, int snapshots, int records, std::vector<int> kept)
    : begin_(begin),
      end_(end),
      snapshots_(std::min(snapshots, std::max(end - begin, 1))),
      records_(records),
      present_(kept.empty() ? begin : -1),
      kept_(std::move(kept)) {
  check(snapshots, records);
}

Action RevolveSchedule::next() {
  if (recorded_) {
    recorded_ = false;
    const int end = std::exchange(end_, present_);
    present_ = -1;
    return {Kind::reverse, end_, end};
  }
  if (!kept_.empty() && kept_.back() >= end_) {
    const int useless = kept_.back();
    kept_.pop_back();
    return {Kind::discard, useless, 0};
  }
  if (end_ <= begin_) return {};
  if (present_ < 0) {
    present_ = kept_.back();
    return {Kind::restore, present_, 0};
  }
  const bool stored = !kept_.empty() && kept_.back() == present_;
  if (end_ - present_ <= records_) {
    if (stored) {
      kept_.pop_back();
      return {Kind::discard, present_, 0};
    }
    recorded_ = true;
    return {Kind::record, present_, end_};
  }
  if (!stored) {
    kept_.push_back(present_);
    return {Kind::store, present_, 0};
  }
  const int unused = std::max(snapshots_ - static_cast<int>(kept_.size()), 0);
  const int from = std::exchange(present_, present_ + split(end_ - present_, unused + 1, records_));
  return {Kind::advance, from, present_};
}

long revolve_advances(int num_steps, int snapshots, int records) {
  check(snapshots, records);
  if (num_steps <= records) return 0;
  const std::int64_t n = num_steps;
  const std::int64_t s = std::min(snapshots, num_steps);
  const std::int64_t r = repetitions(n, s, records);
  // C(s+r, r−1) = C(s+r−1, s)·(s+r)/(s+1). r is the least integer with R·C(s+r, s) ≥ n. Hence R·C(s+r−1, s) < n, and
  // the limit n of `reach` has no effect.
  return static_cast<long>(r * n - records * (reach(s, r - 1, n) * (s + r) / (s + 1)));
}

}  // namespace diffsim
