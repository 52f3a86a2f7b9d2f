// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Memory of processes during a sweep with a budget for the whole memory of the processes, as counted by the operating
// system.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "adjoint/sweep_plan.hpp"
#include "checkpoint/schedule_plan.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::process_memory_test {
namespace {

double over_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

/// Resets the peak of this process to its current memory (proc(5)). Collective.
void forget_peak() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::ofstream("/proc/self/clear_refs") << "5";
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Case {
  const char* integrator;
  int bricks;
  int num_steps;
  std::vector<double> counts;  // budgets, in multiples of a state and a record together
};

/// Explicit steps: a state of 3 MB, large compared with pages that are held temporarily. Implicit steps: states are
/// smaller than the temporary memory of a step.
const Case explicit_steps{"symplectic_euler", 40, 20, {1.5, 9.0}};
const Case implicit_steps{"implicit_euler", 22, 7, {4.0}};

DifferentiableScene make_solver(const Case& what) {
  const DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  const bool is_explicit = std::string(what.integrator) == "symplectic_euler";
  DifferentiableSolver options{.dt = is_explicit ? 1e-4 : 1e-2, .integrator = integrator_named(what.integrator)};
  options.substeps = 1;
  DifferentiableScene solver(
      TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {what.bricks, what.bricks, what.bricks}), {material},
      options);
  solver.fix("x_min");
  return solver;
}

void sweep(DifferentiableScene& solver, int num_steps, const CheckpointOptions& options) {
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.1}, num_steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  simulator.rollout(num_steps, options, loss);
  simulator.backward();
}

class MemoryOfProcesses : public testing::TestWithParam<Case> {};

TEST_P(MemoryOfProcesses, IsWithinTheBudgetAndUsesIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the process holds the sanitizer's memory too";
#endif
  const Case& what = GetParam();
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1 && what.integrator == implicit_steps.integrator)
    GTEST_SKIP() << "ranks do not take at the same time what a step takes for its time: the sum of peaks is none";
  DifferentiableScene solver = make_solver(what);
  const auto planned = [&](const CheckpointOptions& options) {
    const ParameterSet gradient = solver.parameters().zero_like({"youngs_modulus"});
    return plan_sweep(options, solver.model(), solver.initial_state(), gradient, what.num_steps, {.kept_states = 1})
        .checkpoints;
  };
  sweep(solver, what.num_steps, {});  // allocates what is made only once
  const double state = over_ranks(static_cast<double>(solver.initial_state().bytes())),
               record = over_ranks(static_cast<double>(solver.model().record_bytes()));
  release_free_memory();
  forget_peak();
  const double forgotten = over_ranks(peak_memory_bytes()) - over_ranks(resident_memory_bytes());
  if (forgotten > 0.5 * (state + record)) GTEST_SKIP() << "the system does not let a process forget its peak";
  for (const double count : what.counts) {
    CheckpointOptions options;
    options.memory.bytes = std::int64_t{1} << 40;
    const CheckpointPlan plenty = planned(options);
    options.memory.bytes = plenty.held + plenty.beside + static_cast<std::int64_t>(count * (state + record));
    forget_peak();
    sweep(solver, what.num_steps, options);
    const double peak = over_ranks(peak_memory_bytes()), budget = static_cast<double>(options.memory.bytes);
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: %.3f MB of %.3f MB; held %.3f, beside %.3f, a state %.3f, a record %.3f\n", what.integrator,
                  1e-6 * peak, 1e-6 * budget, 1e-6 * static_cast<double>(plenty.held),
                  1e-6 * static_cast<double>(plenty.beside), 1e-6 * state, 1e-6 * record);
    // The budget needs no margin for single pages, because the plan counts the initial state once too often.
    EXPECT_LE(peak, budget) << count;
    // Unused parts: the state that is counted twice, the rest of a record, and the temporary memory of implicit steps,
    // which is not always used completely.
    const double passing = static_cast<double>(plenty.beside) - 2.0 * state;
    EXPECT_GT(peak, budget - 2.0 * (state + record) - passing) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, MemoryOfProcesses, testing::Values(explicit_steps, implicit_steps));

}  // namespace
}  // namespace diffsim::process_memory_test
