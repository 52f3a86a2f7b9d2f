// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/sweep_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include "adjoint/curved_points.hpp"
#include "error_text.hpp"

namespace diffsim::sweep_plan_test {
namespace {

using namespace testing_adjoint;

// Sizes in bytes of MovingPoints: a state of four values, a record with one state, and a gradient of five values.
constexpr std::int64_t state_bytes = 32, record_bytes = 32, gradient_bytes = 40;
constexpr std::int64_t held = 1000;  // given as a measured value
constexpr int num_steps = 10;

class Planned : public testing::Test {
 protected:
  Planned() {
    options.measures = PlanMeasures{held, 0.3, 0.2};
    initial["positions"].from_host({0.1, 0.7, -0.4, 1.1});
  }
  /// Plans for a budget of `bytes` in addition to the memory in use and to the memory `other` of the sweep.
  SweepPlan plan(std::int64_t bytes, std::int64_t other, const SweepSurroundings& surroundings = {}) {
    options.memory.bytes = bytes + held + other;
    const SweepPlan result = plan_sweep(options, model, initial, gradient, num_steps, surroundings);
    EXPECT_EQ(result.checkpoints.held, held);
    EXPECT_EQ(result.checkpoints.beside, other);
    return result;
  }

  CurvedPoints model;
  State initial = model.make_state();
  ParameterSet gradient = model.parameters().zero_like({"rate", "push"});
  CheckpointOptions options;
  // The state and the adjoint.
  std::int64_t beside = 2 * state_bytes + gradient_bytes;
};

TEST_F(Planned, records_all_steps_if_the_records_fit) {
  const SweepPlan all = plan(num_steps * record_bytes, beside);
  EXPECT_EQ(all.checkpoints.snapshots, 0);
  EXPECT_EQ(all.checkpoints.records, num_steps);
  EXPECT_EQ(all.checkpoints.recomputations, 0);
  EXPECT_EQ(all.skipped, 0);
  EXPECT_GT(all.step_seconds, 0.0);
  EXPECT_GT(all.adjoint_seconds, 0.0);
  // With nine records, the first snapshot takes the memory of one record, and two steps are executed twice.
  const SweepPlan less = plan(num_steps * record_bytes - 1, beside);
  EXPECT_EQ(less.checkpoints.snapshots, 1);
  EXPECT_EQ(less.checkpoints.records, num_steps - 2);
  EXPECT_EQ(less.checkpoints.recomputations, 2);
}

TEST_F(Planned, counts_the_surroundings_of_the_sweep) {
  plan(num_steps * record_bytes, beside + state_bytes, {.kept_states = 1});
  // A journal keeps an adjoint and a gradient, and writes them through four buffers.
  plan(num_steps * record_bytes, beside + 5 * (state_bytes + gradient_bytes), {.has_journal = true});
}

TEST_F(Planned, leaves_out_steps_that_are_not_reversed) {
  options.last = 4;
  const SweepPlan last = plan(4 * record_bytes, beside);
  EXPECT_EQ(last.skipped, 6);
  EXPECT_EQ(last.checkpoints.num_steps, 4);
  EXPECT_EQ(last.checkpoints.records, 4);
}

TEST_F(Planned, counts_half_of_a_snapshot_in_single_precision) {
  options.single = true;
  const SweepPlan single = plan(8 * record_bytes + state_bytes / 2, beside);
  EXPECT_EQ(single.checkpoints.snapshots, 1);
  EXPECT_EQ(single.checkpoints.records, 8);
  EXPECT_EQ(single.checkpoints.bytes, 8 * record_bytes + state_bytes / 2);
}

TEST_F(Planned, takes_the_given_times_of_a_disk_and_writes_nothing) {
  EXPECT_TRUE(std::isnan(plan(num_steps * record_bytes, beside).write));
  options.store = CheckpointStore::tiered;
  options.directory = "plan_without_files";
  const SweepPlan tiered = plan(num_steps * record_bytes, beside);
  EXPECT_EQ(tiered.write, 0.3);
  EXPECT_EQ(tiered.read, 0.2);
  EXPECT_FALSE(std::filesystem::exists("plan_without_files"));
}

// The states of a product have twice the size, and a record has the record of the model and three states. The sweep
// needs five such states, a state, three sets of parameters and a record in addition.
TEST_F(Planned, products_with_the_hessian_have_larger_states_and_records) {
  const std::int64_t more = 5 * 2 * state_bytes + state_bytes + 3 * gradient_bytes + record_bytes;
  const std::int64_t record = record_bytes + 3 * state_bytes;
  options.memory.bytes = held + more + num_steps * record;
  const SweepPlan all = plan_product_sweep(options, model, initial, gradient, num_steps);
  EXPECT_EQ(all.checkpoints.beside, more);
  EXPECT_EQ(all.checkpoints.bytes, num_steps * record);
  EXPECT_EQ(all.checkpoints.recomputations, 0);
  options.memory.bytes -= 1;
  EXPECT_GT(plan_product_sweep(options, model, initial, gradient, num_steps).checkpoints.recomputations, 0);
}

TEST_F(Planned, refuses_a_budget_without_room_for_a_snapshot_and_a_record) {
  plan(state_bytes + record_bytes, beside);
  EXPECT_CONTAINS(error_of([&] { plan(state_bytes + record_bytes - 1, beside); }), "one snapshot and one record need");
}

TEST(sweep_plan, expects_the_time_of_all_steps_and_of_the_disk) {
  SweepPlan plan;
  plan.checkpoints.num_steps = plan.checkpoints.records = 10;
  plan.checkpoints.bytes = 320;
  plan.checkpoints.held = 3 * 1048576;
  plan.checkpoints.beside = 1048576 / 2;
  const std::string all = "all: 10 records, 320 B; 1.00 forward steps for each of 10",
                    memory = "; in addition, the processes hold 3.00 MiB and the sweep needs 0.50 MiB";
  EXPECT_TRUE(std::isnan(plan.expected_seconds()));
  EXPECT_EQ(plan.summary(), all + "; time unknown" + memory);
  plan.skipped = 4;
  plan.checkpoints.recomputations = 6;
  plan.step_seconds = 0.5;
  plan.adjoint_seconds = 0.25;
  EXPECT_EQ(plan.expected_seconds(), (4 + 10 + 6) * 0.5 + 10 * 0.25);
  plan.checkpoints.recomputations = 0;
  EXPECT_EQ(plan.summary(), all + "; about 9.5 s, estimated from the first step" + memory);
  plan.checkpoints.levels = {{1, 0.0, 0.0}, {2, 2.0, 1.0}};
  plan.checkpoints.writes = 3;
  plan.checkpoints.reads = 5;
  plan.write = 2.0;
  plan.read = 1.0;
  EXPECT_EQ(plan.expected_seconds(), (4 + 10 + 3 * 2 + 5 * 1) * 0.5 + 10 * 0.25);
  EXPECT_CONTAINS(plan.summary(), "; the disk takes the time of 2 steps to write a snapshot and of 1 to read it");
}

}  // namespace
}  // namespace diffsim::sweep_plan_test
