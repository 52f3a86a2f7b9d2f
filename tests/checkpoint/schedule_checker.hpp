// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Performs the actions of a schedule symbolically, on step numbers only, and reports the first violation.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/schedule.hpp"

namespace diffsim::testing_checkpoint {

struct Rehearsal {
  std::string fault;  // empty if the schedule is correct
  long advances = 0;
  long records = 0;              // number of steps recorded, forward or back
  std::map<int, long> stores;    // number of stores, by level
  std::map<int, long> restores;  // number of restores, by level
  std::map<int, int> peak;       // greatest number of simultaneous snapshots, by level
  int peak_records = 0;
  int most_repeated = 0;  // number of times that the most frequently advanced step was advanced
};

/// Checker that allows at most `capacity[level]` snapshots (none on levels that are not listed) and `max_records`
/// records. If the last argument is true, `finish` notifies the schedule of the length of the rollout when the end is
/// reached.
class Rehearsing {
 public:
  Rehearsing(Schedule& schedule, int num_steps, std::vector<int> capacity, int max_records, bool told)
      : schedule_(schedule),
        n_(num_steps),
        capacity_(std::move(capacity)),
        max_records_(max_records),
        told_(told),
        kept_(capacity_.size()),
        repeated_(static_cast<std::size_t>(num_steps), 0) {}

  Rehearsal run() {
    next_ = n_;
    tell();
    const long limit = 100L * (n_ + 2) * (n_ + 2);  // limit of the number of actions, for schedules that never end
    for (long count = 0; result_.fault.empty(); ++count) {
      const Action action = schedule_.next();
      if (action.kind == Action::Kind::done) {
        finish();
        break;
      }
      if (const std::string wrong = perform(action); !wrong.empty()) fail(action, wrong);
      if (count > limit) fail(action, "does not end");
      tell();
    }
    for (const int times : repeated_) result_.most_repeated = std::max(result_.most_repeated, times);
    return result_;
  }

 private:
  void tell() {
    if (!told_ || present_ != n_) return;
    schedule_.finish(n_);
    told_ = false;
  }

  void finish() {
    const int first = schedule_.first_reversed();
    if (next_ != first) result_.fault = "ends before step " + std::to_string(first) + " is reversed";
    if (!records_.empty()) result_.fault = "ends with records left";
    for (const auto& level : kept_)
      if (!level.empty()) result_.fault = "ends with snapshot " + std::to_string(*level.begin()) + " left";
    if (schedule_.next().kind != Action::Kind::done) result_.fault = "goes on after its end";
  }

  void fail(const Action& action, const std::string& what) {
    static const char* const names[] = {"store", "restore", "discard", "advance", "record", "reverse", "back", "done"};
    result_.fault = std::string(names[static_cast<int>(action.kind)]) + " {" + std::to_string(action.begin) + ", " +
                    std::to_string(action.end) + ", level " + std::to_string(action.level) + "}: " + what;
  }

  std::string perform(const Action& action) {
    switch (action.kind) {
      case Action::Kind::store:
      case Action::Kind::restore:
      case Action::Kind::discard:
        return keep(action);
      case Action::Kind::advance:
      case Action::Kind::record:
        return move(action);
      case Action::Kind::reverse:
        return reverse(action);
      case Action::Kind::back:
        return back(action);
      case Action::Kind::done:
        break;
    }
    return "";
  }

  std::string keep(const Action& action) {
    if (action.level < 0 || action.level >= static_cast<int>(kept_.size())) return "there is no such level";
    auto& kept = kept_[static_cast<std::size_t>(action.level)];
    if (action.kind == Action::Kind::store) {
      if (action.begin != present_) return "state " + std::to_string(present_) + " is present";
      if (!kept.insert(action.begin).second) return "is stored already";
      const int count = static_cast<int>(kept.size());
      if (count > capacity_[static_cast<std::size_t>(action.level)]) return "no room";
      ++result_.stores[action.level];
      result_.peak[action.level] = std::max(result_.peak[action.level], count);
      return "";
    }
    if (!kept.contains(action.begin)) return "there is no such snapshot";
    if (action.kind == Action::Kind::discard) {
      kept.erase(action.begin);
      return "";
    }
    present_ = action.begin;
    ++result_.restores[action.level];
    return "";
  }

  std::string move(const Action& action) {
    if (action.begin != present_) return "state " + std::to_string(present_) + " is present";
    if (action.end <= action.begin || action.end > next_) return "goes nowhere, or where all is reversed";
    present_ = action.end;
    if (action.kind == Action::Kind::advance) {
      result_.advances += action.end - action.begin;
      for (int n = action.begin; n < action.end; ++n) ++repeated_[static_cast<std::size_t>(n)];
      return "";
    }
    if (!records_.empty() && records_.back() + 1 != action.begin) return "leaves a gap in the records";
    for (int n = action.begin; n < action.end; ++n) records_.push_back(n);
    result_.records += action.end - action.begin;
    result_.peak_records = std::max(result_.peak_records, static_cast<int>(records_.size()));
    return result_.peak_records > max_records_ ? "too many records" : "";
  }

  std::string back(const Action& action) {
    if (!schedule_.goes_back()) return "says that it does not go back";
    if (action.end != present_) return "state " + std::to_string(present_) + " is present";
    if (action.begin != action.end - 1 || action.end != next_ || !records_.empty()) return "out of order";
    if (next_ == n_) end_was_present_ = true;
    present_ = action.begin;
    records_.push_back(action.begin);
    ++result_.records;
    result_.peak_records = std::max(result_.peak_records, 1);
    return result_.peak_records > max_records_ ? "too many records" : "";
  }

  std::string reverse(const Action& action) {
    if (next_ == n_ && present_ != n_ && !end_was_present_)
      return "the last state is not present at the beginning of the reversal";
    if (action.end != next_ || action.begin >= action.end) return "out of order";
    for (int n = action.end - 1; n >= action.begin; --n) {
      if (records_.empty() || records_.back() != n) return "no record of step " + std::to_string(n);
      records_.pop_back();
    }
    next_ = action.begin;
    return "";
  }

  Schedule& schedule_;
  int n_;
  std::vector<int> capacity_;
  int max_records_;
  bool told_;
  int present_ = 0;
  bool end_was_present_ = false;  // true if state n_ was present when the first step back was taken
  int next_ = 0;                  // steps from `next_` on are reversed
  std::vector<std::set<int>> kept_;
  std::vector<int> records_;
  std::vector<int> repeated_;
  Rehearsal result_;
};

inline Rehearsal rehearse(Schedule& schedule, int num_steps, const std::vector<int>& capacity, int max_records = 1) {
  return Rehearsing(schedule, num_steps, capacity, max_records, false).run();
}

/// Checks a schedule whose `finish` is called once state `num_steps` is present.
inline Rehearsal rehearse_told(Schedule& schedule, int num_steps, const std::vector<int>& capacity) {
  return Rehearsing(schedule, num_steps, capacity, 1, true).run();
}

/// Returns the first error if the schedule runs on a store without levels, which keeps one copy of each state. Empty if
/// there is no error. Discarding an absent state is not an error.
inline std::string fault_on_one_store(Schedule& schedule) {
  std::set<int> kept;
  for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next()) {
    if (action.kind == Action::Kind::store) kept.insert(action.begin);
    if (action.kind == Action::Kind::discard) kept.erase(action.begin);
    if (action.kind == Action::Kind::restore && !kept.contains(action.begin))
      return "there is no snapshot " + std::to_string(action.begin);
  }
  return kept.empty() ? "" : "ends with snapshot " + std::to_string(*kept.begin()) + " left";
}

}  // namespace diffsim::testing_checkpoint
