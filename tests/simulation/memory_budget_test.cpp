// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Memory that planned sweeps use, compared with their budget. Kokkos reports all arrays.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "adjoint/sweep_plan.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/inverse/problem.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::memory_budget_test {
namespace {

std::int64_t live = 0, peak = 0;

/// Bytes of a field's values: an allocation has room for one more value.
std::int64_t held(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes - sizeof(double)); }
void note_array(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
  live += held(bytes);
  peak = std::max(peak, live);
}
void note_end(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t bytes) { live -= held(bytes); }

/// Scene of a moving bar that bends, fixed at one end. Without implicit differentiation, a step has four Newton
/// iterations, and a record stores three of them.
DifferentiableScene make_solver(const std::string& integrator, bool implicit_differentiation) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {6, 2, 2});
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  const bool is_explicit = diffsim::is_explicit(integrator_named(integrator));
  DifferentiableSolver options{
      .dt = is_explicit ? 1e-3 : 0.05, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  options.implicit.implicit_differentiation = implicit_differentiation;
  if (!implicit_differentiation) options.implicit.newton.max_iterations = 4;
  options.implicit.held_iterations = 3;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), {0.0, 2.0 * mesh->rest_positions()[3 * static_cast<std::size_t>(v)], 0.0});
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Largest number of bytes in arrays while a gradient is computed, minus the bytes before, on this rank.
std::int64_t peak_of(DifferentiableScene& solver, int num_steps, const CheckpointOptions& options) {
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.1}, num_steps);
  const std::int64_t before = live;
  peak = live;
  (void)testing_simulation::loss_and_gradients(solver, loss, num_steps, {"youngs_modulus"}, options);
  return peak - before;
}

class MemoryOfSweeps : public testing::TestWithParam<std::pair<const char*, bool>> {};

/// The budgets are no multiples of a state or a record. The unused part of a budget is less than a record.
TEST_P(MemoryOfSweeps, IsNeverMoreThanTheBudgetAndLessThanARecordBelowIt) {
  constexpr int num_steps = 24;
  const auto [integrator, implicit_differentiation] = GetParam();
  DifferentiableScene solver = make_solver(integrator, implicit_differentiation);
  solver.model().prepare();
  const auto state = static_cast<std::int64_t>(solver.initial_state().bytes()),
             record = static_cast<std::int64_t>(solver.model().record_bytes());
  Kokkos::Tools::Experimental::set_allocate_data_callback(note_array);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(note_end);
  // Memory of every sweep in addition to its snapshots and records, measured for three steps with one of each.
  CheckpointOptions options;
  options.measures = PlanMeasures{};  // the test counts arrays, not the memory of the process
  options.schedule = CheckpointSchedule::revolve;
  options.snapshots = 1;
  (void)peak_of(solver, 3, options);  // allocates what is made only once
  const std::int64_t beside = peak_of(solver, 3, options) - state - record;
  std::int64_t sizes[2] = {state, record};
  MPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  // Memory that a plan accounts for: the sizes of state, adjoint, gradient, and of the state that simulators restore.
  // The temporary memory of implicit steps is included only if it has been measured, which is not the case here.
  options.memory.bytes = std::int64_t{1} << 40;
  const ParameterSet gradient = solver.parameters().zero_like({"youngs_modulus"});
  const SweepPlan plenty =
      plan_sweep(options, solver.model(), solver.initial_state(), gradient, num_steps, {.kept_states = 1});
  const std::int64_t counted = plenty.checkpoints.beside;
  if (solver.model().solver_tolerance() == 0.0) {
    EXPECT_EQ(beside, counted);
  }
  for (const double times : {1.37, 2.9, 6.1}) {
    const auto budget = static_cast<std::int64_t>(times * static_cast<double>(sizes[0] + sizes[1]));
    options.memory.bytes = counted + budget;
    std::int64_t used = peak_of(solver, num_steps, options) - beside;
    MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s %d: %.4f of %.2f states and records\n", integrator, implicit_differentiation,
                  static_cast<double>(used) / static_cast<double>(budget), times);
    EXPECT_LE(used, budget) << times;
    EXPECT_GT(used + sizes[1], budget) << times;
  }
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
}

TEST(memory_budget, inverse_problems_take_checkpoint_options) {
  constexpr int num_steps = 24;
  DifferentiableScene solver = make_solver("symplectic_euler", true);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.1}, num_steps);
  Unknown unknown;
  unknown.parameter = "youngs_modulus";
  long repeated = 0;
  const auto gradient_with = [&](const CheckpointOptions& options) {
    InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, {unknown}, options);
    std::vector<double> gradient;
    problem.gradient(problem.start(), gradient);
    repeated = problem.statistics().advances;
    return gradient;
  };
  const std::vector<double> reference = gradient_with({});
  EXPECT_EQ(repeated, 0);
  EXPECT_EQ(gradient_with({.schedule = CheckpointSchedule::revolve, .snapshots = 2}), reference);
  EXPECT_GT(repeated, 0);
  solver.model().prepare();
  CheckpointOptions planned;
  planned.measures = PlanMeasures{};
  planned.memory.bytes = std::int64_t{1} << 40;
  EXPECT_EQ(gradient_with(planned), reference);
  EXPECT_EQ(repeated, 0);
  std::int64_t bytes = static_cast<std::int64_t>(10 * solver.initial_state().bytes());
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  planned.memory.bytes = bytes;
  EXPECT_EQ(gradient_with(planned), reference);
  EXPECT_GT(repeated, 0) << "a small budget repeats steps";
}

INSTANTIATE_TEST_SUITE_P(integrators, MemoryOfSweeps,
                         testing::Values(std::pair{"symplectic_euler", true}, std::pair{"runge_kutta_4", true},
                                         std::pair{"implicit_euler", true}, std::pair{"implicit_euler", false},
                                         std::pair{"newmark", false}));

}  // namespace
}  // namespace diffsim::memory_budget_test
