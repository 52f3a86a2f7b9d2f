// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reverse sweeps of a small Model without physics: gradients, operations of schedules, lost snapshots.

#include "adjoint/adjoint_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "adjoint/moving_points.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::adjoint_sweep_test {
namespace {

using testing_adjoint::EndLoss;
using testing_adjoint::MovingPoints;

constexpr int num_steps = 11;

State initial_state(const Model& model) {
  int rank = 0;
  MPI_Comm_rank(model.comm(), &rank);
  State state = model.make_state();
  state["positions"].from_host({0.1 + 0.2 * rank, 0.7, -0.4, 1.1});
  return state;
}

/// Loss, derivative with respect to `rate`, derivatives with respect to `push`, ∂L/∂x[0].
struct Result {
  double loss = 0.0;
  std::vector<double> rate, push, initial;
  SweepStatistics statistics;
  bool operator==(const Result& other) const {
    return loss == other.loss && rate == other.rate && push == other.push && initial == other.initial;
  }
};

Result gradient_by(Schedule& schedule, Store& store, const StateObserver& observer = {}) {
  MovingPoints model({});
  EndLoss loss(num_steps);
  ParameterSet gradient = model.parameters().zero_like({"rate", "push"});
  State state = initial_state(model), adjoint = state.zero_like();
  AdjointSweep sweep(model, loss, schedule, store);
  Result result;
  result.loss = sweep.forward(state, gradient, observer, [](int n, const State&) { return n == num_steps; });
  sweep.backward(adjoint);
  EXPECT_THROW(sweep.backward(adjoint), Error) << "a second reverse sweep after one rollout";
  result.rate = gradient.at("rate").field.to_host();
  result.push = gradient.at("push").field.to_host();
  result.initial = adjoint["positions"].to_host();
  result.statistics = sweep.statistics();
  return result;
}

Result reference() {
  AllSchedule all(num_steps);
  MemoryStore store;
  return gradient_by(all, store);
}

/// Schedule given as a list of operations.
class ListedSchedule : public Schedule {
 public:
  explicit ListedSchedule(std::vector<Action> actions, int first = 0) : actions_(std::move(actions)), first_(first) {}
  std::string name() const override { return "listed"; }
  Action next() override { return position_ < actions_.size() ? actions_[position_++] : Action{}; }
  int first_reversed() const override { return first_; }

 private:
  std::vector<Action> actions_;
  std::size_t position_ = 0;
  int first_;
};

/// Operations that keep the initial state only and repeat all steps before each reversed step.
std::vector<Action> from_the_start() {
  using Kind = Action::Kind;
  std::vector<Action> actions = {{Kind::store, 0, 0}, {Kind::advance, 0, num_steps - 1}};
  for (int n = num_steps - 1; n >= 0; --n) {
    if (n < num_steps - 1) {
      actions.push_back({Kind::restore, 0, 0});
      if (n > 0) actions.push_back({Kind::advance, 0, n});
    }
    actions.push_back({Kind::record, n, n + 1});
    actions.push_back({Kind::reverse, n, n + 1});
  }
  actions.push_back({Kind::discard, 0, 0});
  return actions;
}

TEST(adjoint_sweep, gradients_are_those_of_differences_of_the_rollout) {
  const Result found = reference();
  MovingPoints model({});
  EndLoss loss(num_steps);
  const auto loss_at = [&](const std::string& name, std::size_t entry, double change) {
    State state = initial_state(model);
    Field& field = name == "positions" ? state[name] : model.parameters().at(name).field;
    const std::vector<double> before = field.to_host();
    std::vector<double> values = before;
    values[entry] += change;
    field.from_host(values);
    const double result = rollout(model, state, num_steps, &loss);
    if (name != "positions") field.from_host(before);
    return result;
  };
  EXPECT_DOUBLE_EQ(found.loss, loss_at("rate", 0, 0.0));
  const auto check = [&](const std::string& name, std::size_t entry, double slope) {
    const double h = 1e-3;
    const auto at = [&](double times) { return loss_at(name, entry, times * h); };
    const double difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
    EXPECT_NEAR(slope, difference, 1e-9 * std::abs(difference)) << name << ' ' << entry;
  };
  check("rate", 0, found.rate[0]);
  // All ranks change the entry with this index, each of its own points.
  for (std::size_t i = 0; i < 4; ++i) {
    check("push", i, sum_over_ranks(found.push[i], MPI_COMM_WORLD));
    check("positions", i, sum_over_ranks(found.initial[i], MPI_COMM_WORLD));
  }
}

TEST(adjoint_sweep, schedules_change_the_work_but_no_bit_of_the_gradient) {
  const Result expected = reference();
  EXPECT_EQ(expected.statistics.recordings, num_steps);
  EXPECT_EQ(expected.statistics.advances, 0);
  MemoryStore store;
  UniformSchedule uniform(num_steps, 3);
  const Result by_uniform = gradient_by(uniform, store);
  EXPECT_TRUE(by_uniform == expected);
  EXPECT_EQ(by_uniform.statistics.advances, 9);  // the last two steps are recorded in the forward run
  EXPECT_EQ(by_uniform.statistics.stores, 3);
  EXPECT_EQ(by_uniform.statistics.restores, 3);
  ListedSchedule listed(from_the_start());
  const Result by_list = gradient_by(listed, store);
  EXPECT_TRUE(by_list == expected);
  EXPECT_EQ(by_list.statistics.recordings, num_steps);
  EXPECT_EQ(by_list.statistics.advances, num_steps * (num_steps - 1) / 2);
  EXPECT_EQ(by_list.statistics.stores, 1);
  EXPECT_EQ(by_list.statistics.restores, num_steps - 1);
}

TEST(adjoint_sweep, the_observer_receives_each_state_of_the_forward_run_once) {
  ListedSchedule listed(from_the_start());
  MemoryStore store;
  std::vector<int> seen;
  std::vector<double> last;
  gradient_by(listed, store, [&](int n, const State& state) {
    seen.push_back(n);
    last = state["positions"].to_host();
  });
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(num_steps + 1));
  for (int n = 0; n <= num_steps; ++n) EXPECT_EQ(seen[static_cast<std::size_t>(n)], n);
  MovingPoints model({});
  State state = initial_state(model);
  rollout(model, state, num_steps);
  EXPECT_EQ(last, state["positions"].to_host());
}

/// Memory store that reports its snapshots as damaged a given number of times.
class DamagedStore : public MemoryStore {
 public:
  explicit DamagedStore(int failures) : failures_(failures) {}
  void get(int step, State& state) override {
    if (failures_-- > 0) throw Error("the snapshot is damaged");
    MemoryStore::get(step, state);
  }

 private:
  int failures_;
};

TEST(adjoint_sweep, a_damaged_snapshot_is_computed_anew_from_an_earlier_one) {
  UniformSchedule uniform(num_steps, 3);
  DamagedStore store(1);
  const Result found = gradient_by(uniform, store);
  EXPECT_TRUE(found == reference());
  EXPECT_EQ(found.statistics.advances, 9 + 3);  // the segment before the damaged snapshot
  UniformSchedule again(num_steps, 3);
  DamagedStore all_damaged(1000);
  EXPECT_THROW(gradient_by(again, all_damaged), Error);
}

TEST(adjoint_sweep, a_truncated_sweep_gives_the_share_of_the_last_steps) {
  constexpr int first = 7;
  ListedSchedule last_steps({{Action::Kind::advance, 0, first},
                             {Action::Kind::record, first, num_steps},
                             {Action::Kind::reverse, first, num_steps}},
                            first);
  MemoryStore store;
  const Result found = gradient_by(last_steps, store);
  EXPECT_DOUBLE_EQ(found.loss, reference().loss);
  // The steps from `first` on are a rollout of their own from state `first`.
  MovingPoints model({});
  State state = initial_state(model);
  rollout(model, state, first);
  EndLoss loss(num_steps - first);
  ParameterSet gradient = model.parameters().zero_like({"rate", "push"});
  AllSchedule all(num_steps - first);
  AdjointSweep sweep(model, loss, all, store);
  State adjoint = state.zero_like();
  sweep.forward(state, gradient);
  sweep.backward(adjoint);
  EXPECT_EQ(found.rate, gradient.at("rate").field.to_host());
  EXPECT_EQ(found.push, gradient.at("push").field.to_host());
  EXPECT_EQ(found.initial, adjoint["positions"].to_host());
}

}  // namespace
}  // namespace diffsim::adjoint_sweep_test
