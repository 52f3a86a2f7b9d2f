// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/multi_level_schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::multi_level_schedule_test {
namespace {

// State of a reversal in progress.
struct Situation {
  int present;                          // present state, -1 if none
  int end;                              // steps from `end` on are reversed
  std::array<std::uint32_t, 3> stored;  // for each level, one bit for each stored state

  std::uint64_t key() const {
    std::uint64_t key = static_cast<std::uint64_t>(present + 1) << 8 | static_cast<std::uint64_t>(end);
    for (const std::uint32_t states : stored) key = key << 12 | states;
    return key;
  }
};

// Least time, by Dijkstra's algorithm over all possible actions: any state may be stored on any level at any time, and
// replaces any other state if the level is full.
class ShortestPath {
 public:
  ShortestPath(int num_steps, const std::vector<StorageLevel>& levels, double step_seconds)
      : n_(num_steps), levels_(levels), step_seconds_(step_seconds) {}

  double seconds() {
    reach(0.0, {0, n_, {}});
    while (!queue_.empty()) {
      const auto [time, at] = queue_.top();
      queue_.pop();
      if (time > best_[at.key()]) continue;
      if (at.end == 0) return time;
      expand(time, at);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  using Entry = std::pair<double, Situation>;
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a.first > b.first; }
  };

  void reach(double time, const Situation& to) {
    const auto [entry, fresh] = best_.try_emplace(to.key(), time);
    if (!fresh && entry->second <= time) return;
    entry->second = time;
    queue_.emplace(time, to);
  }

  void expand(double time, const Situation& at) {
    if (at.present == at.end - 1) {
      Situation to{-1, at.end - 1, at.stored};
      for (std::uint32_t& states : to.stored) states &= (1U << to.end) - 1U;
      reach(time, to);
    } else if (at.present >= 0) {
      reach(time + step_seconds_, {at.present + 1, at.end, at.stored});
    }
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      if (at.present >= 0) store(time + levels_[k].write_seconds, at, k);
      for (int state = 0; state < at.end; ++state)
        if ((at.stored[k] >> state & 1U) != 0U) reach(time + levels_[k].read_seconds, {state, at.end, at.stored});
    }
  }

  void store(double time, const Situation& at, std::size_t k) {
    const std::uint32_t bit = 1U << at.present;
    if (levels_[k].capacity == 0 || (at.stored[k] & bit) != 0U) return;
    Situation to = at;
    to.stored[k] |= bit;
    if (std::popcount(at.stored[k]) < levels_[k].capacity) {
      reach(time, to);
      return;
    }
    for (int state = 0; state < at.end; ++state) {
      if ((at.stored[k] >> state & 1U) == 0U) continue;
      to.stored[k] = (at.stored[k] & ~(1U << state)) | bit;
      reach(time, to);
    }
  }

  int n_;
  std::vector<StorageLevel> levels_;
  double step_seconds_;
  std::unordered_map<std::uint64_t, double> best_;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
};

std::string describe(int n, const std::vector<StorageLevel>& levels, double step_seconds) {
  std::ostringstream text;
  text << n << " steps of " << step_seconds << " s;";
  for (const StorageLevel& level : levels)
    text << " [" << level.capacity << ": write " << level.write_seconds << " s, read " << level.read_seconds << " s]";
  return text.str();
}

// Performs the schedule and returns the time it takes.
double rehearsed_seconds(MultiLevelSchedule& schedule, int n, const std::vector<StorageLevel>& levels,
                         double step_seconds) {
  std::vector<int> capacity;
  for (const StorageLevel& level : levels) capacity.push_back(level.capacity);
  testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(schedule, n, capacity);
  EXPECT_EQ(result.fault, "") << describe(n, levels, step_seconds);
  EXPECT_EQ(result.records, n);
  double seconds = step_seconds * static_cast<double>(result.advances);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    seconds += levels[k].write_seconds * static_cast<double>(result.stores[static_cast<int>(k)]);
    seconds += levels[k].read_seconds * static_cast<double>(result.restores[static_cast<int>(k)]);
  }
  return seconds;
}

// All times are multiples of a quarter, so sums are exact.
std::vector<StorageLevel> random_levels(std::mt19937& random, std::size_t count) {
  static constexpr std::array<double, 9> times{0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0};
  std::vector<StorageLevel> levels(count);
  double write = 0.0;
  double read = 0.0;
  for (StorageLevel& level : levels) {
    level.capacity = static_cast<int>(random() % 4);
    level.write_seconds = write += times[random() % times.size()];
    level.read_seconds = read += times[random() % times.size()];
  }
  levels.back().capacity += 1;
  return levels;
}

class Optimum : public ::testing::TestWithParam<std::pair<std::size_t, int>> {};

TEST_P(Optimum, IsReached) {
  const auto [count, longest] = GetParam();
  std::mt19937 random(static_cast<unsigned>(20 + count));
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<StorageLevel> levels = random_levels(random, count);
    const double step_seconds = trial % 5 == 0 ? 0.25 : 1.0;
    const int n = 1 + static_cast<int>(random() % static_cast<unsigned>(longest));
    MultiLevelSchedule schedule(n, levels, step_seconds);
    const double optimum = ShortestPath(n, levels, step_seconds).seconds();
    ASSERT_EQ(schedule.seconds(), optimum) << describe(n, levels, step_seconds);
    ASSERT_EQ(rehearsed_seconds(schedule, n, levels, step_seconds), optimum) << describe(n, levels, step_seconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Optimum,
                         ::testing::Values(std::pair<std::size_t, int>{1, 9}, std::pair<std::size_t, int>{2, 8},
                                           std::pair<std::size_t, int>{3, 5}));

TEST(MultiLevelSchedule, IsBinomialWhereStorageCostsNothing) {
  for (const int s : {1, 2, 5, 12}) {
    for (const int n : {1, 2, 10, 57, 200}) {
      const std::vector<StorageLevel> levels{{s, 0.0, 0.0}};
      MultiLevelSchedule schedule(n, levels, 1.0);
      EXPECT_EQ(schedule.seconds(), static_cast<double>(revolve_advances(n, s)));
      EXPECT_EQ(rehearsed_seconds(schedule, n, levels, 1.0), schedule.seconds());
    }
  }
}

TEST(MultiLevelSchedule, TakesAsLongAsItSays) {
  for (const int n : {50, 300, 1000}) {
    const std::vector<StorageLevel> levels{{4, 0.0, 0.25}, {6, 2.0, 2.0}, {1000, 10.0, 15.0}};
    MultiLevelSchedule schedule(n, levels, 1.0);
    EXPECT_EQ(rehearsed_seconds(schedule, n, levels, 1.0), schedule.seconds());
  }
}

TEST(MultiLevelSchedule, RunsOnOneStoreToo) {
  for (const double read : {0.0, 1.0, 20.0}) {
    MultiLevelSchedule schedule(200, {{2, 0.0, 0.0}, {3, 1.0, read}, {100, 5.0, 20.0}}, 1.0);
    EXPECT_EQ(testing_checkpoint::fault_on_one_store(schedule), "") << read;
  }
}

TEST(MultiLevelSchedule, GetsFasterWithEveryLevel) {
  constexpr int n = 400;
  const std::vector<StorageLevel> all{{4, 0.0, 0.0}, {6, 2.0, 2.0}, {100, 10.0, 15.0}};
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t count = 1; count <= all.size(); ++count) {
    const MultiLevelSchedule schedule(n, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, 1.0);
    EXPECT_LT(schedule.seconds(), before);
    before = schedule.seconds();
  }
}

TEST(MultiLevelSchedule, RefusesLevelsThatMakeNoSense) {
  const auto make = [](int n, std::vector<StorageLevel> levels, double step_seconds = 1.0) {
    return MultiLevelSchedule(n, std::move(levels), step_seconds);
  };
  EXPECT_THROW(make(5, {}), Error);
  EXPECT_THROW(make(5, {{0, 0.0, 0.0}}), Error);
  EXPECT_THROW(make(5, {{-1, 0.0, 0.0}}), Error);
  EXPECT_THROW(make(5, {{1, -1.0, 0.0}}), Error);
  EXPECT_THROW(make(5, {{1, 0.0, std::numeric_limits<double>::quiet_NaN()}}), Error);
  EXPECT_THROW(make(5, {{1, 2.0, 2.0}, {1, 1.0, 3.0}}), Error);  // the second level is faster
  EXPECT_THROW(make(5, {{1, 0.0, 0.0}}, -1.0), Error);
  for (const int n : {0, 1}) {  // these need no snapshot
    MultiLevelSchedule schedule = make(n, {});
    EXPECT_EQ(testing_checkpoint::rehearse(schedule, n, {}).fault, "") << n;
  }
}

}  // namespace
}  // namespace diffsim::multi_level_schedule_test
