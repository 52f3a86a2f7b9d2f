// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method in statics: the final residual, and loads that grow over several steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/exchange.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/simulation/scene.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim::newton_test {
namespace {

/// Returns the solver of a bar that is fixed at one end and pulled sideways at the other.
DifferentiableScene make_solver(const std::string& law, double tolerance, int ramp_steps) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.25, 0.25}, {4, 1, 1});
  const DifferentiableMaterial rubber{
      law, {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
  options.implicit.newton.tolerance = tolerance;
  options.implicit.ramp_steps = ramp_steps;
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  solver.add_traction("x_max", {500.0, -1500.0, 200.0});
  solver.model().prepare();
  return solver;
}

/// Returns the norm of the forces on free vertices divided by the norm of the forces on all vertices.
double relative_residual(DifferentiableScene& solver, const State& state) {
  const TetrahedralMesh& mesh = *solver.mesh();
  Field force = state["positions"].like("force");
  for (const auto& term : solver.system().terms()) term->add_force({state["positions"]}, solver.parameters(), force);
  mesh.vertex_exchange().add_to_owners(force);
  const std::vector<double> f = force.to_host();
  double sums[2] = {0.0, 0.0};  // free, all
  for (std::size_t i = 0; i < force.owned_size(); ++i) {
    const bool is_free = mesh.rest_positions()[3 * (i / 3)] > 1e-9;
    sums[0] += is_free ? f[i] * f[i] : 0.0;
    sums[1] += f[i] * f[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sums[0] / sums[1]);
}

TEST(newton, leaves_no_more_of_the_residual_than_its_tolerance) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    DifferentiableScene solver = make_solver("neo_hookean", tolerance, 0);
    State state = solver.initial_state();
    solver.step(0, state);
    // The tolerance refers to the largest forces of all iterates, which may exceed those of the last one.
    EXPECT_LE(relative_residual(solver, state), 1.5 * tolerance) << tolerance;
  }
}

TEST(newton, loads_grow_linearly_from_the_first_step_on) {
  constexpr int ramp_steps = 4;
  DifferentiableScene whole = make_solver("linear_elastic", 1e-12, 0),
                      ramped = make_solver("linear_elastic", 1e-12, ramp_steps);
  State full = whole.initial_state(), state = ramped.initial_state();
  whole.step(0, full);
  const std::vector<double> X = whole.initial_state()["positions"].to_host(), x = full["positions"].to_host();
  for (int n = 0; n < ramp_steps + 2; ++n) {
    ramped.step(n, state);
    const double factor = std::min(1.0, (n + 1.0) / ramp_steps);
    const std::vector<double> y = state["positions"].to_host();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i] - X[i], factor * (x[i] - X[i]), 1e-10) << n;
  }
}

}  // namespace
}  // namespace diffsim::newton_test
