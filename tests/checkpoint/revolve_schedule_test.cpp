// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/revolve_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::revolve_schedule_test {
namespace {

using testing_checkpoint::rehearse;

std::string where(int n, int s, int records = 1) {
  return std::to_string(n) + " steps, " + std::to_string(s) + " snapshots, " + std::to_string(records) + " records";
}

// Binomial coefficient C(n, k), as far as the result fits into a long.
long binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  long value = 1;
  for (int i = 1; i <= std::min(k, n - k); ++i) value = value * (n - std::min(k, n - k) + i) / i;
  return value;
}

// Returns t(n, s) and sets r, both directly from the formula.
long formula(int n, int s, int& r) {
  r = 0;
  while (binomial(s + r, s) < n) ++r;
  return static_cast<long>(r) * n - binomial(s + r, r - 1);
}

TEST(RevolveSchedule, AdvancesWhatTheFormulaSays) {
  for (int s = 1; s <= 20; ++s) {
    for (int n = 1; n <= 500; ++n) {
      RevolveSchedule schedule(n, s);
      const testing_checkpoint::Rehearsal result = rehearse(schedule, n, {s});
      int r = 0;
      ASSERT_EQ(result.fault, "") << where(n, s);
      ASSERT_EQ(result.advances, formula(n, s, r)) << where(n, s);
      ASSERT_EQ(result.advances, revolve_advances(n, s)) << where(n, s);
      ASSERT_EQ(result.records, n) << where(n, s);
      ASSERT_EQ(result.most_repeated, r) << where(n, s);
    }
  }
}

TEST(RevolveSchedule, AdvancesWhatTheLiteratureSaysForLongRollouts) {
  struct Row {
    int n;
    std::array<long, 4> advances;
  };
  const std::array<int, 4> snapshots{5, 10, 20, 50};
  for (const Row& row : {Row{100, {316, 222, 178, 148}}, Row{1000, {6284, 3636, 2747, 1948}},
                         Row{10000, {112868, 57624, 37976, 28622}}}) {
    for (std::size_t k = 0; k < snapshots.size(); ++k) {
      RevolveSchedule schedule(row.n, snapshots[k]);
      const testing_checkpoint::Rehearsal result = rehearse(schedule, row.n, {snapshots[k]});
      EXPECT_EQ(result.fault, "") << where(row.n, snapshots[k]);
      EXPECT_EQ(result.advances, row.advances[k]) << where(row.n, snapshots[k]);
      EXPECT_EQ(result.records, row.n);
    }
  }
}

// Least number of advances, and least number of stores among schedules with this number of advances. All positions of
// the next snapshot are tried.
struct Optimum {
  long advances = 0;
  long stores = 0;
  auto operator<=>(const Optimum&) const = default;
};

std::vector<std::vector<Optimum>> optima(int max_n, int max_s, int records) {
  const auto size = static_cast<std::size_t>(max_n) + 1;
  std::vector<std::vector<Optimum>> best(static_cast<std::size_t>(max_s) + 1, std::vector<Optimum>(size));
  for (std::size_t s = 1; s < best.size(); ++s) {
    for (std::size_t n = static_cast<std::size_t>(records) + 1; n < size; ++n) {  // the present state is stored
      best[s][n].advances = std::numeric_limits<long>::max();
      for (std::size_t m = 1; m < n; ++m) {
        const bool short_tail = n - m <= static_cast<std::size_t>(records);
        if (s == 1 && !short_tail) continue;
        const Optimum& left = best[s][m];
        const Optimum& right = best[s - 1][n - m];
        best[s][n] = std::min(best[s][n], {static_cast<long>(m) + left.advances + right.advances,
                                           left.stores + right.stores + (short_tail ? 0 : 1)});
      }
    }
  }
  return best;
}

TEST(RevolveSchedule, IsOptimalInAdvancesAndThenInStores) {
  for (const int records : {1, 2, 3, 7}) {
    const auto best = optima(120, 8, records);
    for (int s = 1; s <= 8; ++s) {
      for (int n = 1; n <= 120; ++n) {
        RevolveSchedule schedule(n, s, records);
        testing_checkpoint::Rehearsal result = rehearse(schedule, n, {s}, records);
        const Optimum& optimum = best[static_cast<std::size_t>(s)][static_cast<std::size_t>(n)];
        ASSERT_EQ(result.fault, "") << where(n, s, records);
        ASSERT_EQ(result.advances, optimum.advances) << where(n, s, records);
        ASSERT_EQ(result.advances, revolve_advances(n, s, records)) << where(n, s, records);
        ASSERT_EQ(result.stores[0], optimum.stores + (n > records ? 1 : 0))
            << where(n, s, records);  // plus the initial snapshot
      }
    }
  }
}

TEST(RevolveSchedule, GoesOnFromSnapshotsThatAreThere) {
  const auto left = [](RevolveSchedule& schedule) {
    std::vector<Action> actions;
    for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next())
      actions.push_back(action);
    return actions;
  };
  using Kind = Action::Kind;
  RevolveSchedule schedule(3, 6, 2, 1, {3, 5});
  EXPECT_EQ(left(schedule), (std::vector<Action>{{Kind::restore, 5, 0},
                                                 {Kind::discard, 5, 0},
                                                 {Kind::record, 5, 6},
                                                 {Kind::reverse, 5, 6},
                                                 {Kind::restore, 3, 0},
                                                 {Kind::advance, 3, 4},
                                                 {Kind::record, 4, 5},
                                                 {Kind::reverse, 4, 5},
                                                 {Kind::restore, 3, 0},
                                                 {Kind::discard, 3, 0},
                                                 {Kind::record, 3, 4},
                                                 {Kind::reverse, 3, 4}}));
}

TEST(RevolveSchedule, TakesTheExtremesOfItsArguments) {
  constexpr int most = std::numeric_limits<int>::max();
  RevolveSchedule none(0, 3);
  EXPECT_EQ(rehearse(none, 0, {3}).fault, "");
  RevolveSchedule plenty(5, most, most);
  EXPECT_EQ(rehearse(plenty, 5, {0}, 5).fault, "");  // every step is recorded, nothing is stored
  EXPECT_EQ(revolve_advances(0, 1), 0);
  EXPECT_EQ(revolve_advances(most, most), most - 1L);
  EXPECT_EQ(revolve_advances(most, 1), (most - 1L) * most / 2);
  EXPECT_EQ(revolve_advances(most, 5, most), 0);
  EXPECT_THROW(RevolveSchedule(10, 0), Error);
  EXPECT_THROW(RevolveSchedule(10, 1, 0), Error);
  EXPECT_THROW(plenty.finish(5), Error);  // the length is already known
}

TEST(RevolveSchedule, IsQuickForMillionsOfSteps) {
  constexpr int n = 2'000'000'000;
  for (const int s : {1, 2, 3, 30, 1000}) {
    RevolveSchedule schedule(n, s);
    Action action = schedule.next();
    for (int k = 0; k < 20'000; ++k) action = schedule.next();
    EXPECT_NE(action.kind, Action::Kind::done);
  }
}

}  // namespace
}  // namespace diffsim::revolve_schedule_test
