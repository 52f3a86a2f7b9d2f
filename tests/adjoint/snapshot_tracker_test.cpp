// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/snapshot_tracker.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/error.hpp"

namespace diffsim::snapshot_tracker_test {
namespace {

State state_of(double value) {
  State state;
  state.add(Field("positions", 4));
  state["positions"].fill(value);
  return state;
}

double value_of(const State& state) { return state["positions"].to_host()[0]; }

/// Memory store with two levels whose snapshots of one step are damaged.
class TwoLevels : public Store {
 public:
  std::string name() const override { return "two levels"; }
  void put(int step, const State& state) override { memory.put(step, state); }
  void get(int step, State& state) override {
    if (step == damaged) throw Error("snapshot " + std::to_string(step) + " is damaged", kind);
    memory.get(step, state);
  }
  void erase(int step) override {
    memory.erase(step);
    erased.push_back(step);
  }
  Store& at_level(int level) override { return level == 0 ? static_cast<Store&>(*this) : second; }

  MemoryStore memory, second;
  int damaged = -1;
  ErrorKind kind = ErrorKind::system;
  std::vector<int> erased;
};

TEST(SnapshotTracker, FindsTheLatestSnapshotInAnInterval) {
  TwoLevels store;
  SnapshotTracker tracker(store);
  EXPECT_FALSE(tracker.latest(10, -1).has_value());
  tracker.put({0, 2}, state_of(2));
  tracker.put({1, 5}, state_of(5));
  tracker.put({0, 5}, state_of(5));
  tracker.expect({0, 7});  // not in the store
  EXPECT_EQ(tracker.latest(10, -1), (SnapshotLocation{0, 5}));
  EXPECT_EQ(tracker.latest(5, 4), (SnapshotLocation{0, 5}));
  EXPECT_EQ(tracker.latest(4, -1), (SnapshotLocation{0, 2}));
  EXPECT_FALSE(tracker.latest(4, 2).has_value());
  EXPECT_FALSE(tracker.latest(1, -1).has_value());
}

TEST(SnapshotTracker, LevelsHoldSnapshotsOfTheirOwn) {
  TwoLevels store;
  SnapshotTracker tracker(store);
  tracker.put({0, 3}, state_of(30));
  tracker.put({1, 3}, state_of(31));
  State state = state_of(0);
  ASSERT_TRUE(tracker.get({1, 3}, state));
  EXPECT_EQ(value_of(state), 31.0);
  ASSERT_TRUE(tracker.get({0, 3}, state));
  EXPECT_EQ(value_of(state), 30.0);
  tracker.discard({0, 3});
  EXPECT_FALSE(tracker.is_stored({0, 3}));
  EXPECT_TRUE(tracker.is_stored({1, 3}));
  EXPECT_EQ(store.erased, std::vector<int>{3});
}

TEST(SnapshotTracker, AMissingSnapshotIsNotErasedFromTheStore) {
  TwoLevels store;
  SnapshotTracker tracker(store);
  tracker.expect({0, 4});
  tracker.expect({1, 4});
  tracker.expect({0, 6});
  EXPECT_EQ(tracker.missing_of(4), (std::vector<SnapshotLocation>{{0, 4}, {1, 4}}));
  tracker.discard({0, 4});
  EXPECT_TRUE(store.erased.empty());
  EXPECT_EQ(tracker.missing_of(4), (std::vector<SnapshotLocation>{{1, 4}}));
  tracker.put({1, 4}, state_of(4));
  EXPECT_TRUE(tracker.missing_of(4).empty());
  EXPECT_TRUE(tracker.is_stored({1, 4}));
  tracker.clear();
  EXPECT_FALSE(tracker.is_stored({1, 4}));
  EXPECT_FALSE(tracker.is_missing({0, 6}));
}

TEST(SnapshotTracker, ADamagedSnapshotIsMissingAfterwards) {
  TwoLevels store;
  SnapshotTracker tracker(store);
  tracker.put({0, 2}, state_of(2));
  tracker.put({0, 8}, state_of(8));
  store.damaged = 8;
  State state = state_of(0);
  EXPECT_FALSE(tracker.get({0, 8}, state));
  EXPECT_EQ(tracker.damage(), "snapshot 8 is damaged");
  EXPECT_FALSE(tracker.is_stored({0, 8}));
  EXPECT_TRUE(tracker.is_missing({0, 8}));
  EXPECT_EQ(tracker.latest(9, -1), (SnapshotLocation{0, 2}));
}

TEST(SnapshotTracker, AnErrorThatIsNoDamageIsPassedOn) {
  TwoLevels store;
  SnapshotTracker tracker(store);
  tracker.put({0, 8}, state_of(8));
  store.damaged = 8;
  store.kind = ErrorKind::input;
  State state = state_of(0);
  EXPECT_THROW((void)tracker.get({0, 8}, state), Error);
  EXPECT_TRUE(tracker.is_stored({0, 8}));
}

}  // namespace
}  // namespace diffsim::snapshot_tracker_test
