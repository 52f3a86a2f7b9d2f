// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's iterations differentiated one by one (implicit_differentiation: false).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::unrolled_newton_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 2;

/// Scene of a bar fixed at one end, rotated and pulled at the other, under loads that bend the bar strongly.
DifferentiableScene make_solver(const std::string& integrator, bool implicit, int max_iterations, int order = 1,
                                const std::string& law = "neo_hookean", int held_iterations = 4) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {order == 1 ? 3 : 2, 1, 1}, order);
  DifferentiableMaterial material{
      law, {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}, {"drag", 300.0}}, "all"};
  DifferentiableSolver options{.dt = 0.05, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.newton.max_iterations = max_iterations;
  options.implicit.implicit_differentiation = implicit;
  options.implicit.held_iterations = held_iterations;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  solver.move("x_max", {1.0, 0.0, 0.0}, {1.0, 0.15, 0.1}, {3.0}, {0.3, 0.2, -0.1});
  solver.add_traction("y_max", {30.0, -100.0, 20.0});
  return solver;
}

std::vector<std::string> names_for(const std::string& integrator) {
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",     "density",
                                 "drag",           "gravity",           "angular_velocity:x_max",
                                 "velocity:x_max", "initial_positions", "traction:y_max"};
  if (integrator != "quasi_static") names.emplace_back("initial_velocities");
  return names;
}

std::vector<double> gradient_of(DifferentiableScene& solver, const std::vector<std::string>& names) {
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("z_max"), {0.9, 0.2, 0.1}, num_steps);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns_of(names, {"youngs_modulus", "density"}),
      [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  std::vector<double> gradient;
  (void)problem.gradient(problem.start(), gradient);
  return gradient;
}

TEST(UnrolledRecord, HasRoomForAFewIterations) {
  const auto bytes = [](bool implicit, int max_iterations) {
    return make_solver("implicit_euler", implicit, max_iterations).model().record_bytes();
  };
  DifferentiableScene solver = make_solver("implicit_euler", false, 7);
  const std::size_t iterate = solver.initial_state()["positions"].bytes();
  EXPECT_EQ(bytes(false, 3), bytes(true, 3) + 3 * iterate);
  EXPECT_EQ(bytes(false, 50), bytes(true, 50) + 4 * iterate);
  EXPECT_EQ(bytes(true, 7), bytes(true, 50));
}

/// Tangent and adjoint of a step along a direction, with as many Newton iterations as the step needs. `repeated`:
/// number of iterations that the derivatives computed again.
std::vector<double> derivatives(int held_iterations, int& iterations, int& repeated) {
  DifferentiableScene solver = make_solver("newmark", false, 50, 1, "neo_hookean", held_iterations);
  auto& model = dynamic_cast<ImplicitModel&>(solver.model());
  model.prepare();
  ParameterSet direction = solver.parameters().zero_like({"youngs_modulus", "density", "velocity:x_max"});
  ParameterSet gradient = direction.zero_like(direction.names());
  direction.fill(1e-3);
  model.prepare_tangent(direction);
  model.begin_adjoint(gradient);
  State state = solver.initial_state(), tangent = state.zero_like(), adjoint = state.zero_like();
  for (Field& field : adjoint.fields()) field.fill(1.0);
  const std::unique_ptr<Record> record = model.make_record();
  // The record has stored another step before.
  model.step(0, state, record.get());
  iterations = static_cast<int>(model.statistics().newton_iterations);
  model.step(1, state, record.get());
  iterations = static_cast<int>(model.statistics().newton_iterations) - iterations;
  model.step_tangent(1, *record, direction, tangent);
  model.step_adjoint(1, *record, adjoint, gradient);
  model.prepare_adjoint(gradient);
  repeated = static_cast<int>(model.statistics().repeated_iterations);
  std::vector<double> all;
  const auto add = [&](const Field& field) {
    for (const double value : field.to_host()) all.push_back(value);
  };
  for (const Field& field : tangent.fields()) add(field);
  for (const Field& field : adjoint.fields()) add(field);
  for (const Parameter& parameter : gradient) add(parameter.field);
  return all;
}

TEST(UnrolledRecord, GivesTheSameBitsWhereItHasNoRoomForAll) {
  int iterations = 0, repeated = 0;
  const std::vector<double> expected = derivatives(50, iterations, repeated);
  ASSERT_GE(iterations, 4);
  EXPECT_EQ(repeated, 0);
  for (int room = 1; room <= iterations; ++room) {
    EXPECT_EQ(derivatives(room, iterations, repeated), expected) << room;
    EXPECT_EQ(repeated > 0, room < iterations) << room;
  }
}

class UnrolledNewton : public testing::TestWithParam<const char*> {};

TEST_P(UnrolledNewton, has_derivatives_where_it_stopped_early) {
  for (const int order : {1, 2}) {
    DifferentiableScene solver =
        make_solver(GetParam(), false, 2, order, order == 1 ? "neo_hookean" : "stable_neo_hookean");
    GradientCheckOptions options;
    options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 || order == 2) options.differences = false;
    std::vector<std::string> names = names_for(GetParam());
    if (ranks > 1 || order == 2) names = {"youngs_modulus", "density", "velocity:x_max", "initial_positions"};
    expect_derivatives(solver, num_steps, {{"z_max", {0.9, 0.2, 0.1}, num_steps}},
                       unknowns_of(names, {"youngs_modulus", "density"}), options);
    // The iterations do stop early.
    State state = solver.initial_state();
    (void)rollout(solver.model(), state, num_steps);
    const auto& model = dynamic_cast<const ImplicitModel&>(solver.model());
    EXPECT_GT(model.last_residuals().back(), 1e-9);
  }
}

TEST_P(UnrolledNewton, agrees_with_implicit_differentiation_at_convergence) {
  const std::vector<std::string> names = names_for(GetParam());
  DifferentiableScene unrolled = make_solver(GetParam(), false, 50), implicit = make_solver(GetParam(), true, 50),
                      early = make_solver(GetParam(), false, 2);
  const std::vector<double> g = gradient_of(implicit, names), same = gradient_of(unrolled, names),
                            other = gradient_of(early, names);
  double sums[3] = {0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < g.size(); ++i) {
    sums[0] += g[i] * g[i];
    sums[1] += (g[i] - same[i]) * (g[i] - same[i]);
    sums[2] += (g[i] - other[i]) * (g[i] - other[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_LE(std::sqrt(sums[1] / sums[0]), 1e-9);
  EXPECT_GE(std::sqrt(sums[2] / sums[0]), 1e-6);  // early stopping changes the gradient
}

INSTANTIATE_TEST_SUITE_P(integrators, UnrolledNewton,
                         testing::Values("quasi_static", "implicit_euler", "bdf2", "newmark", "generalised_alpha"));

std::string refusal(DifferentiableScene& solver, const std::string& name) {
  try {
    (void)gradient_of(solver, {name});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(UnrolledNewtonRefuses, what_it_has_no_derivatives_of) {
  DifferentiableScene solver = make_solver("implicit_euler", false, 50);
  EXPECT_NE(refusal(solver, "rest_positions").find("no second derivative with respect to 'rest_positions'"),
            std::string::npos);

  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {2, 1, 1});
  DifferentiableSolver options{.dt = 0.05, .integrator = Integrator::implicit_euler};
  options.implicit.implicit_differentiation = false;
  DifferentiableMaterial viscous{
      "neo_hookean",
      {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"viscosity", 20.0}, {"bulk_viscosity", 0.0}},
      "all"};
  DifferentiableScene damped(mesh, {viscous}, options);
  EXPECT_NE(refusal(damped, "youngs_modulus").find("the Jacobian of the term 'viscosity' is not symmetric"),
            std::string::npos);
}

}  // namespace
}  // namespace diffsim::unrolled_newton_test
