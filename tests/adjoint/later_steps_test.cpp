// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/later_steps.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "adjoint/moving_points.hpp"
#include "diffsim/adjoint/sweep.hpp"

namespace diffsim::later_steps_test {
namespace {

using testing_adjoint::MovingPoints;
using Calls = std::vector<std::string>;

/// Model that adds n to the positions in step n, and notes the operations on steps.
class Counter : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  void step(int n, State& state, Record*) override {
    note("step", n);
    std::vector<double> x = state["positions"].to_host();
    for (double& value : x) value += n;
    state["positions"].from_host(x);
  }
  void step_tangent(int n, const Record&, const ParameterSet&, State&) override { note("tangent", n); }
  void step_adjoint(int n, const Record&, State&, ParameterSet&) override { note("adjoint", n); }
  void step_adjoint_tangent(int n, const Record&, const StepTangent&, const ParameterSet&,
                            const AdjointPair&) override {
    note("adjoint tangent", n);
  }
  void set_reversible(bool wanted) override { note("reversible", wanted ? 1 : 0); }
  void step_back(int n, State&, Record&) override { note("back", n); }

  Calls calls;

 private:
  void note(const std::string& call, int n) { calls.push_back(call + ' ' + std::to_string(n)); }
};

TEST(later_steps, have_the_numbers_of_the_whole_rollout) {
  MovingPoints points({});
  Counter counter(points);
  LaterSteps later(counter, 5);
  State state = later.make_state(), other = state.zero_like();
  ParameterSet set;
  const auto record = later.make_record();
  later.step(2, state, nullptr);
  later.step_tangent(0, *record, set, state);
  later.step_adjoint(1, *record, state, set);
  later.step_adjoint_tangent(3, *record, {state, state}, set, {state, other, set, set});
  later.set_reversible(true);
  later.step_back(4, state, *record);
  EXPECT_EQ(counter.calls, (Calls{"step 7", "tangent 5", "adjoint 6", "adjoint tangent 8", "reversible 1", "back 9"}));
}

// From the positions 0, the positions of the states 4 … 7 are 6, 10, 15 and 21. The loss is n x at the states n ≥ 6, so
// the loss of the later part is 6 · 15 + 7 · 21.
TEST(later_steps, end_a_rollout) {
  MovingPoints points({});
  Counter counter(points);
  FunctionLoss whole(
      [](int n, const State& state, State*) { return n >= 6 ? n * state["positions"].to_host()[0] : 0.0; });
  State state = counter.make_state();
  rollout(counter, state, 4);
  EXPECT_EQ(state["positions"].to_host(), std::vector<double>(4, 6.0));
  LaterSteps later(counter, 4);
  LaterLoss loss(whole, 4);
  std::vector<int> seen;
  EXPECT_EQ(rollout(later, state, 3, &loss, [&](int n, const State&) { seen.push_back(n); }), 237.0);
  EXPECT_EQ(state["positions"].to_host(), std::vector<double>(4, 21.0));
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace diffsim::later_steps_test
