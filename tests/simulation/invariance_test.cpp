// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Loss and gradient do not depend on checkpointing (bitwise), nor on the numbers of ranks and threads (up to rounding
// errors).

#include <gtest/gtest.h>

#include <cmath>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/sweep_plan.hpp"
#include "checkpoint/multi_level_schedule.hpp"
#include "checkpoint/online_schedule.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::invariance_test {
namespace {

constexpr int num_steps = 23;
const std::vector<std::string> asked = {"youngs_modulus", "poisson_ratio", "density",
                                        "gravity",        "damping",       "traction:x_max"};

DifferentiableScene make_solver(std::shared_ptr<TetrahedralMesh> mesh) {
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableScene solver(std::move(mesh), {material}, {.dt = 0.004, .substeps = 3});
  solver.fix("x_min");
  solver.add_traction("x_max", {20.0, -10.0, 5.0});
  return solver;
}

/// Loss, gradients with respect to parameters on cells in the order of the file, gradients with respect to global
/// parameters, and ∂L/∂x[0] in the order of the file.
std::vector<double> loss_and_gradients(DifferentiableScene& solver, const CheckpointOptions& options) {
  const TetrahedralMesh& mesh = *solver.mesh();
  SumLoss loss;
  for (const int step : {0, 7, 16, num_steps})
    loss.add(
        std::make_unique<TargetPositionLoss>(mesh, mesh.region("x_max"), std::array<double, 3>{0.9, 0.2, 0.1}, step));
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient(asked);
  std::vector<double> result{simulator.rollout(num_steps, options, loss)};
  simulator.backward();
  const auto append = [&](const std::vector<double>& values) {
    result.insert(result.end(), values.begin(), values.end());
  };
  for (const std::string& name : asked) {
    const Parameter& gradient = simulator.gradient().at(name);
    std::vector<double> block = gradient.field.to_host();
    if (gradient.on().name() == "cells") mesh.cell_order().to_file(gradient.field.to_host(), 1, block);
    append(block);
  }
  for (const char* name : {"positions", "velocities"}) {
    std::vector<double> block, owned = simulator.initial_gradient()[name].to_host();
    owned.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
    mesh.vertex_order().to_file(owned, 3, block);
    append(block);
  }
  return result;
}

TEST(invariance, gradient_has_the_same_bits_for_every_schedule_and_store) {
  DifferentiableScene solver = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const std::vector<double> reference = loss_and_gradients(solver, {});
  CheckpointOptions options;
  for (const CheckpointStore store : {CheckpointStore::memory, CheckpointStore::hdf5, CheckpointStore::tiered}) {
    const bool in_memory = store == CheckpointStore::memory;  // the other stores are slower, since they write to disk
    options.store = store;
    options.schedule = CheckpointSchedule::uniform;
    for (const int every : in_memory ? std::vector{1, 7, 10, num_steps, 100} : std::vector{7}) {
      options.every = every;
      EXPECT_EQ(loss_and_gradients(solver, options), reference) << to_string(store) << " every " << every;
    }
    options.every = 6;
    for (const CheckpointSchedule schedule : {CheckpointSchedule::revolve, CheckpointSchedule::online,
                                              CheckpointSchedule::two_level, CheckpointSchedule::multi_level})
      for (const int snapshots : in_memory ? std::vector{1, 2, 5} : std::vector{2}) {
        options.schedule = schedule;
        options.snapshots = snapshots;
        options.levels = {{snapshots, 0.0, 0.0, ""}, {3, 2.0, 1.0, ""}};
        EXPECT_EQ(loss_and_gradients(solver, options), reference)
            << to_string(schedule) << " " << snapshots << " " << to_string(store);
      }
  }
}

TEST(invariance, a_planned_sweep_stays_within_its_budget_and_gives_the_same_bits) {
  DifferentiableScene solver = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const std::vector<double> reference = loss_and_gradients(solver, {});
  const ParameterSet gradient = solver.parameters().zero_like(asked);
  for (const std::int64_t kilobytes : {100, 200, 1000, 100000}) {
    CheckpointOptions options;
    options.memory.bytes = kilobytes * 1000;
    options.measures = PlanMeasures{};
    const SweepPlan plan =
        plan_sweep(options, solver.model(), solver.initial_state(), gradient, num_steps, {.kept_states = 1});
    EXPECT_LE(plan.checkpoints.bytes, options.memory.bytes);
    EXPECT_GT(plan.expected_seconds(), 0.0);
    EXPECT_NE(plan.summary().find("s, estimated from the first step"), std::string::npos) << plan.summary();
    EXPECT_EQ(loss_and_gradients(solver, options), reference) << kilobytes;
  }
  // A larger budget leaves the same amount if the process holds the difference.
  CheckpointOptions held;
  held.measures = PlanMeasures{5'000'000};
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  held.memory.bytes = 200'000 + ranks * 5'000'000;
  CheckpointOptions left;
  left.measures = PlanMeasures{};
  left.memory.bytes = 200'000;
  const auto planned = [&](const CheckpointOptions& options) {
    return plan_sweep(options, solver.model(), solver.initial_state(), gradient, num_steps, {.kept_states = 1})
        .checkpoints;
  };
  EXPECT_EQ(planned(held).bytes, planned(left).bytes);
  EXPECT_EQ(planned(held).held, ranks * 5'000'000);
  CheckpointOptions share;
  share.memory.share = 0.01;
  EXPECT_LE(static_cast<double>(
                plan_sweep(share, solver.model(), solver.initial_state(), gradient, num_steps, {.kept_states = 1})
                    .checkpoints.bytes),
            0.02 * free_memory_bytes());
  EXPECT_EQ(loss_and_gradients(solver, share), reference);
  CheckpointOptions little;
  little.memory.bytes = 1000;
  little.measures = PlanMeasures{};
  EXPECT_THROW(loss_and_gradients(solver, little), Error);
}

TEST(invariance, a_plan_with_a_disk_does_what_it_says_and_gives_the_same_bits) {
  constexpr int steps = 200;
  DifferentiableScene solver = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {16, 8, 8}));
  const ParameterSet gradient = solver.parameters().zero_like(asked);
  SweepStatistics done;
  const auto bits = [&](const CheckpointOptions& options) {
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.1}, steps);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient(asked);
    std::vector<double> result{simulator.rollout(steps, options, loss)};
    simulator.backward();
    for (const std::string& name : asked)
      for (const double value : simulator.gradient(name).to_host()) result.push_back(value);
    done = simulator.statistics();
    return result;
  };
  const auto planned = [&](const CheckpointOptions& options) {
    return plan_sweep(options, solver.model(), solver.initial_state(), gradient, steps, {.kept_states = 1});
  };
  CheckpointOptions options;
  options.schedule = CheckpointSchedule::uniform;
  options.every = 20;
  const std::vector<double> reference = bits(options);
  options.measures = PlanMeasures{};
  options.memory.bytes = std::int64_t{1} << 40;
  const std::int64_t beside = planned(options).checkpoints.beside;
  std::int64_t sizes[3] = {static_cast<std::int64_t>(solver.initial_state().bytes()),
                           static_cast<std::int64_t>(solver.model().record_bytes()),
                           static_cast<std::int64_t>(MultiLevelSchedule::table_bytes(steps))};
  MPI_Allreduce(MPI_IN_PLACE, sizes, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  // A record, two snapshots, four snapshots that are being written, and tables for two and forty snapshots and two
  // levels.
  options.memory.bytes = beside + sizes[1] + 6 * sizes[0] + 44 * sizes[2];
  options.disk.bytes = 40 * sizes[0];
  options.store = CheckpointStore::tiered;
  for (const double cost : {0.01, 1e4}) {
    options.measures = PlanMeasures{0, cost, cost};
    const SweepPlan plan = planned(options);
    EXPECT_EQ(plan.write, cost);
    EXPECT_EQ(plan.checkpoints.disk_snapshots > 0, cost < 1.0) << plan.summary();
    EXPECT_EQ(bits(options), reference) << plan.summary();
    EXPECT_EQ(done.advances, plan.checkpoints.recomputations);
    EXPECT_EQ(done.recordings, steps);
    EXPECT_EQ(done.bytes_written > 0, cost < 1.0);
  }
  // With measured speeds of the disk, any plan is valid.
  options.measures.reset();
  options.memory = {0, 0.5};
  const SweepPlan plan = planned(options);
  EXPECT_GT(plan.write, 0.0);
  EXPECT_GT(plan.read, 0.0);
  EXPECT_GT(plan.checkpoints.held, 1'000'000);
  EXPECT_EQ(bits(options), reference);
}

TEST(invariance, a_rollout_of_unknown_length_ends_where_it_says) {
  DifferentiableScene solver = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const TetrahedralMesh& mesh = *solver.mesh();
  TargetPositionLoss loss(mesh, mesh.region("x_max"), {0.9, 0.2, 0.1}, 10);
  const auto run = [&](Schedule& schedule, const EndOfRollout& ends) {
    MemoryStore store;
    AdjointSweep sweep(solver.model(), loss, schedule, store);
    State state = solver.initial_state();
    State adjoint = state.zero_like();
    ParameterSet gradient = solver.parameters().zero_like({"youngs_modulus"});
    std::vector<double> result{sweep.forward(state, gradient, {}, ends)};
    sweep.backward(adjoint);
    EXPECT_EQ(sweep.num_steps(), 10);
    const std::vector<double> values = gradient.at("youngs_modulus").field.to_host();
    result.insert(result.end(), values.begin(), values.end());
    return result;
  };
  AllSchedule all(10);
  OnlineSchedule online(3);
  int asked_times = 0;
  const auto ends = [&](int n, const State&) {
    EXPECT_EQ(n, asked_times++);
    return n == 10;
  };
  EXPECT_EQ(run(online, ends), run(all, {}));
  EXPECT_EQ(asked_times, 11);
  OnlineSchedule endless(3);
  EXPECT_THROW(run(endless, {}), Error);
}

TEST(invariance, the_same_run_gives_the_same_bits) {
  DifferentiableScene first = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  DifferentiableScene second = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  EXPECT_EQ(loss_and_gradients(first, {}), loss_and_gradients(second, {}));
}

TEST(invariance, many_ranks_agree_with_one) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) GTEST_SKIP() << "one rank is what others are compared with";
  DifferentiableScene spread = make_solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2}));
  DifferentiableScene alone = make_solver(TetrahedralMesh::box(MPI_COMM_SELF, {1.0, 0.3, 0.2}, {6, 2, 2}));
  const std::vector<double> whole = loss_and_gradients(alone, {});
  const std::vector<double> part = loss_and_gradients(spread, {});
  EXPECT_NEAR(part[0], whole[0], 1e-11 * std::abs(whole[0]));
  // Compares the parts of the results: `part` has this rank's block in the order of the file, `whole` has all entries.
  std::size_t at = 1, at_whole = 1;
  const auto compare = [&](std::size_t count, std::size_t count_whole, std::size_t begin, const char* name) {
    double scale = 0.0;
    for (std::size_t i = 0; i < count_whole; ++i) scale = std::max(scale, std::abs(whole[at_whole + i]));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_NEAR(part[at + i], whole[at_whole + begin + i], 1e-11 * scale) << name << " " << i;
    }
    at += count;
    at_whole += count_whole;
  };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const FileOrder& cells = spread.mesh()->cell_order();
  const FileOrder& vertices = spread.mesh()->vertex_order();
  for (const std::string& name : asked) {
    if (spread.parameters().at(name).on().name() == "cells")
      compare(size(cells.block_size()), size(cells.num_global()), size(cells.block_begin()), name.c_str());
    else
      compare(spread.parameters().at(name).field.size(), spread.parameters().at(name).field.size(), 0, name.c_str());
  }
  for (const char* name : {"positions", "velocities"})
    compare(size(3 * vertices.block_size()), size(3 * vertices.num_global()), size(3 * vertices.block_begin()), name);
  EXPECT_EQ(at, part.size());
  EXPECT_EQ(at_whole, whole.size());
}

}  // namespace
}  // namespace diffsim::invariance_test
