// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gradients computed with conjugate gradients: the error follows the tolerance of the linear solves, and the default
// tolerance suffices.

#include <gtest/gtest.h>
#include <petscsys.h>

#include <cmath>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::linear_tolerance_test {
namespace {

using testing_simulation::relative_difference;

/// Returns the gradient of a loss at the tip of a swinging bar with respect to the stiffness. Tolerance 0 selects
/// direct factorisation.
std::vector<double> gradient(double tolerance, ImplicitStatistics* statistics = nullptr) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.25, 0.25}, {8, 2, 2});
  DifferentiableMaterial rubber{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}}, "all"};
  DifferentiableSolver options{.dt = 0.05, .integrator = Integrator::implicit_euler};
  options.implicit.newton.tolerance = 1e-12;
  options.implicit.linear.direct_below = tolerance > 0.0 ? 0 : 100000;
  if (tolerance > 0.0) options.implicit.linear.tolerance = tolerance;
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, -0.1, 0.1}, 3);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  simulator.rollout(3, 0, loss);
  simulator.backward();
  if (statistics) *statistics = dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
  return simulator.gradient("youngs_modulus").to_host();
}

TEST(linear_tolerance, bounds_the_error_of_the_gradient) {
  const std::vector<double> exact = gradient(0.0);
  double previous = 1.0;
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const double error = relative_difference(gradient(tolerance), exact);
    if (std::getenv("DIFFSIM_VERBOSE")) printf("tolerance %g: error %.2e\n", tolerance, error);
    EXPECT_LE(error, 10.0 * tolerance);
    EXPECT_LT(error, 0.1 * previous) << tolerance;
    previous = error;
  }
  ImplicitStatistics statistics;
  EXPECT_LE(relative_difference(gradient(LinearOptions{}.tolerance, &statistics), exact), 1e-8);
  EXPECT_EQ(statistics.derivative_solves, 3);
  EXPECT_EQ(statistics.indefinite, 0);
  EXPECT_GT(statistics.linear_iterations, statistics.newton_iterations);
}

TEST(linear_tolerance, a_solve_that_fails_is_an_error_with_petscs_reason) {
  PetscOptionsSetValue(nullptr, "-ksp_max_it", "2");
  try {
    gradient(1e-10);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
    const std::string what = error.what();
    for (const char* part : {"step 0", "KSP_DIVERGED_ITS", "relative residuals"})
      EXPECT_NE(what.find(part), std::string::npos) << what;
  }
  PetscOptionsClearValue(nullptr, "-ksp_max_it");
}

TEST(statics, a_body_that_is_not_held_is_refused) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.25, 0.25}, {4, 1, 1});
  DifferentiableMaterial rubber{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}}, "all"};
  const auto told = [&](const std::function<void(DifferentiableScene&)>& hold) -> std::string {
    DifferentiableScene solver(mesh, {rubber}, {.integrator = Integrator::quasi_static});
    hold(solver);
    try {
      solver.model().prepare();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return {};
  };
  EXPECT_NE(told([](auto&) {}).find("translation along x"), std::string::npos);
  const std::string sliding = told([](auto& solver) {
    for (const char* end : {"x_min", "x_max"}) solver.fix(end, {false, true, true});
  });
  EXPECT_NE(sliding.find("free motions: translation along x;"), std::string::npos) << sliding;
  EXPECT_EQ(sliding.find("rotation"), std::string::npos) << sliding;
  EXPECT_EQ(told([](auto& solver) { solver.fix("x_min"); }), "");
}

}  // namespace
}  // namespace diffsim::linear_tolerance_test
