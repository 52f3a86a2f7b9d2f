// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Orders of convergence in time of the integrators, for a smooth nonlinear motion.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "diffsim/simulation/scene.hpp"

namespace diffsim::time_order_test {
namespace {

/// Returns the positions of a swinging and stretching bar after 0.4 s, computed in `steps` steps.
std::vector<double> positions(const std::string& integrator, int steps) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.8, 0.4, 0.4}, {2, 1, 1});
  DifferentiableMaterial rubber{
      "neo_hookean",
      {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}, {"viscosity", 10.0}, {"drag", 500.0}},
      "all"};
  DifferentiableSolver options{.dt = 0.4 / steps,
                               .substeps = 1,
                               .damping = 1.0,
                               .gravity = {0.0, 0.0, 0.0},
                               .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  // The initial velocity excites the lowest modes, so that the motion is smooth on the scale of the steps.
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double x = mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {0.3 * x, 0.8 * x * x, 0.0});
  }
  solver.set_initial_velocity(velocity);
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  std::vector<double> x = state["positions"].to_host();
  x.resize(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
  return x;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sum);
}

class TimeOrder : public testing::TestWithParam<std::tuple<const char*, double>> {};

// The differences between successive halvings of h decrease as h^p.
TEST_P(TimeOrder, is_what_it_should_be) {
  const auto& [integrator, order] = GetParam();
  const int first = order == 1.0 ? 160 : 80;
  std::vector<double> coarse = positions(integrator, first), middle = positions(integrator, 2 * first),
                      fine = positions(integrator, 4 * first);
  EXPECT_NEAR(std::log2(distance(coarse, middle) / distance(middle, fine)), order, 0.1) << integrator;
}

INSTANTIATE_TEST_SUITE_P(dynamics, TimeOrder,
                         testing::Values(std::make_tuple("implicit_euler", 1.0), std::make_tuple("bdf2", 2.0),
                                         std::make_tuple("newmark", 2.0), std::make_tuple("generalised_alpha", 2.0),
                                         std::make_tuple("explicit_euler", 1.0),
                                         std::make_tuple("symplectic_euler", 1.0),
                                         std::make_tuple("velocity_verlet", 2.0), std::make_tuple("runge_kutta_2", 2.0),
                                         std::make_tuple("runge_kutta_4", 4.0)));

}  // namespace
}  // namespace diffsim::time_order_test
