// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton-CG with exact Hessian products, compared with L-BFGS.

#include <gtest/gtest.h>

#include <petscsys.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/prior.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::newton_cg_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 2;
constexpr int num_groups = 6;

/// Scene of a bar that hangs from one end, in quasi-static steps.
DifferentiableScene make_solver(const std::string& law = "neo_hookean") {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.2, 0.2, 0.2}, {6, 1, 1});
  std::map<std::string, CellValues> values{{"youngs_modulus", 4e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}};
  if (law == "ogden_1") values = {{"mu_1", 1e4}, {"alpha_1", 2.0}, {"bulk_modulus", 2e4}, {"density", 1000.0}};
  DifferentiableSolver options{.dt = 0.1, .gravity = {0.0, -5.0, 1.0}, .integrator = Integrator::quasi_static};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.ramp_steps = num_steps;
  DifferentiableScene solver(mesh, {{law, values, "all"}}, options);
  solver.fix("x_min");
  return solver;
}

Unknown stiffness(const TetrahedralMesh& mesh, double lower = 1e3) {
  Unknown unknown;
  unknown.parameter = "youngs_modulus";
  unknown.logarithmic = true;
  unknown.lower = lower;
  unknown.upper = 1e7;
  for (int k = 0; k < num_groups; ++k) unknown.group_names.push_back(std::to_string(k));
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    double x = 0.0;
    for (int a = 0; a < 4; ++a)
      x += 0.25 *
           mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[static_cast<std::size_t>(4 * cell + a)])];
    unknown.group.push_back(static_cast<int>(x / 0.2));
  }
  return unknown;
}

struct Identification {
  Identification() : solver(make_solver()) {
    const TetrahedralMesh& mesh = *solver.mesh();
    std::vector<double> values;
    for (const int k : stiffness(mesh).group) values.push_back(truth(k));
    solver.parameters().at("youngs_modulus").field.from_host(values);
    State state = solver.initial_state();
    std::map<int, std::vector<double>> observed;
    rollout(solver.model(), state, num_steps, nullptr, [&](int n, const State& seen) {
      std::vector<double> x = seen["positions"].to_host();
      x.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
      if (n > 0) observed[n] = x;
    });
    loss = std::make_unique<TrackLoss>(mesh, observed, mesh.region("all"));
  }
  static double truth(int k) { return 4e4 * (1.0 + 0.5 * std::sin(2.0 * k)); }

  OptimiserResult run(Optimiser method, double lower = 1e3) {
    Unknown unknown = stiffness(*solver.mesh(), lower);
    unknown.start = {2e4};
    MemoryStore store;
    InverseProblem problem(
        solver.model(), solver.initial_state(), num_steps, *loss, {unknown},
        [](int n) { return std::make_unique<AllSchedule>(n); }, store);
    OptimiserOptions options;
    options.method = method;
    options.max_iterations = 200;
    options.gradient_tolerance = 1e-9;
    OptimiserResult result = optimise(problem, options);
    found = problem.physical(0, result.u);
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: %d iterations, %ld evaluations, %ld products, %s, loss %g\n",
                  optimisers[static_cast<std::size_t>(method)], result.iterations, result.evaluations,
                  result.hessian_products, result.reason.c_str(), result.loss);
    return result;
  }

  DifferentiableScene solver;
  std::unique_ptr<TrackLoss> loss;
  std::vector<double> found;
};

TEST(NewtonCg, finds_stiffnesses_in_far_fewer_iterations_than_lbfgs) {
  Identification problem;
  const OptimiserResult newton = problem.run(Optimiser::newton_cg);
  EXPECT_TRUE(newton.converged) << newton.reason;
  EXPECT_GT(newton.hessian_products, 0);
  for (int k = 0; k < num_groups; ++k)
    EXPECT_NEAR(problem.found[static_cast<std::size_t>(k)], Identification::truth(k), 1e-5 * Identification::truth(k));
  const OptimiserResult lbfgs = problem.run(Optimiser::lbfgs);
  EXPECT_TRUE(lbfgs.converged) << lbfgs.reason;
  EXPECT_LE(3 * newton.iterations, lbfgs.iterations);
}

/// Identification of Young's modulus and Poisson's ratio of the whole bar, from a start far from the solution.
struct TwoModuli {
  explicit TwoModuli(double start_modulus, double start_ratio) : solver(make_solver()) {
    const TetrahedralMesh& mesh = *solver.mesh();
    State state = solver.initial_state();
    std::map<int, std::vector<double>> observed;
    rollout(solver.model(), state, num_steps, nullptr, [&](int n, const State& seen) {
      std::vector<double> x = seen["positions"].to_host();
      x.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
      if (n > 0) observed[n] = x;
    });
    loss = std::make_unique<TrackLoss>(mesh, observed, mesh.region("all"));
    for (const char* name : {"youngs_modulus", "poisson_ratio"}) {
      Unknown& unknown = unknowns.emplace_back();
      unknown.parameter = name;
      unknown.group.assign(static_cast<std::size_t>(mesh.num_cells()), 0);
      unknown.group_names = {""};
    }
    unknowns[0].logarithmic = true;
    unknowns[0].lower = 1e3;
    unknowns[0].upper = 1e7;
    unknowns[0].start = {start_modulus};
    unknowns[1].lower = lowest_ratio;
    unknowns[1].upper = highest_ratio;
    unknowns[1].start = {start_ratio};
  }

  OptimiserResult run(Optimiser method) {
    MemoryStore store;
    InverseProblem problem(
        solver.model(), solver.initial_state(), num_steps, *loss, unknowns,
        [](int n) { return std::make_unique<AllSchedule>(n); }, store);
    OptimiserOptions options;
    options.method = method;
    options.max_iterations = 200;
    options.gradient_tolerance = 1e-9;
    iterations.clear();
    ratios.clear();
    const OptimiserResult result = optimise(problem, options, [&](const Iterate& iterate) {
      iterations.push_back(iterate.iteration);
      ratios.push_back(problem.physical(1, *iterate.u).at(0));
    });
    modulus = problem.physical(0, result.u).at(0);
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: %d iterations, %ld evaluations, %ld products, %s, loss %g, E %g, nu %g\n",
                  optimisers[static_cast<std::size_t>(method)], result.iterations, result.evaluations,
                  result.hessian_products, result.reason.c_str(), result.loss, modulus, ratios.back());
    return result;
  }

  static constexpr double lowest_ratio = 0.0, highest_ratio = 0.49;
  DifferentiableScene solver;
  std::unique_ptr<TrackLoss> loss;
  std::vector<Unknown> unknowns;
  std::vector<int> iterations;  // as reported by the optimiser
  std::vector<double> ratios;
  double modulus = 0.0;
};

TEST(NewtonCg, finds_a_ratio_from_afar_with_no_more_evaluations_than_lbfgs) {
  for (const auto& [modulus, ratio] : {std::pair(1.5e4, 0.05), std::pair(1e5, 0.02), std::pair(4e5, 0.45)}) {
    TwoModuli problem(modulus, ratio);
    const OptimiserResult newton = problem.run(Optimiser::newton_cg);
    EXPECT_TRUE(newton.converged) << newton.reason;
    EXPECT_NEAR(problem.ratios.back(), 0.3, 1e-6);
    EXPECT_NEAR(problem.modulus, 4e4, 1e-5 * 4e4);
    // Each iteration is reported once, and an accepted trial is evaluated once.
    ASSERT_EQ(problem.iterations.size(), static_cast<std::size_t>(newton.iterations) + 1);
    for (std::size_t k = 0; k < problem.iterations.size(); ++k) EXPECT_EQ(problem.iterations[k], static_cast<int>(k));
    EXPECT_LT(newton.evaluations, 2 * newton.iterations);
    EXPECT_LE(newton.evaluations, problem.run(Optimiser::lbfgs).evaluations);
  }
}

/// Returns the result for a force that varies from step to step, with a Matérn prior, from the motion at two steps.
/// `lower`: lower bound of the components of gravity. `without_preconditioner`: the linear systems of Newton's method
/// are not preconditioned.
OptimiserResult find_signal(Optimiser method, double lower, bool without_preconditioner = false) {
  constexpr int steps = 40;
  constexpr double dt = 4e-3;
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {4, 1, 1});
  DifferentiableScene scene(
      mesh, {{"neo_hookean", {{"youngs_modulus", 4e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
      {.dt = dt, .substeps = 4, .damping = 1.0});
  scene.fix("x_min");
  scene.set_control("gravity", std::vector<double>(3 * steps, 0.0));
  SumLoss loss;
  const Region& tip = mesh->region("x_max");
  loss.add_likelihood(std::make_shared<TargetPositionLoss>(*mesh, tip, std::array{0.401, 0.04, 0.052}, steps / 2),
                      1e-3);
  loss.add_likelihood(std::make_shared<TargetPositionLoss>(*mesh, tip, std::array{0.4, 0.055, 0.049}, steps), 1e-3);
  Unknown unknown{.parameter = "gravity"};
  unknown.lower = lower;
  InverseProblem problem(scene.model(), scene.initial_state(), steps, loss, {unknown});
  problem.add_prior(0, make_matern_prior(ValueGradient::of_steps(MPI_COMM_WORLD, steps, 3, dt), {}, 5.0, 0.08));
  OptimiserOptions options;
  options.method = method;
  options.max_iterations = 100;
  options.gradient_tolerance = 1e-7;
  options.gauss_newton = method == Optimiser::newton_cg;
  if (without_preconditioner) PetscOptionsSetValue(nullptr, "-tao_bnk_pc_type", "none");
  const OptimiserResult result = optimise(problem, options);
  if (without_preconditioner) PetscOptionsClearValue(nullptr, "-tao_bnk_pc_type");
  if (std::getenv("DIFFSIM_VERBOSE"))
    std::printf("signal: %d iterations, %ld evaluations, %ld products, %s, loss %.12g\n", result.iterations,
                result.evaluations, result.hessian_products, result.reason.c_str(), result.loss);
  return result;
}

TEST(NewtonCg, takes_far_fewer_products_with_the_covariance_of_the_prior) {
  const double unbounded = -std::numeric_limits<double>::infinity();
  const OptimiserResult newton = find_signal(Optimiser::newton_cg, unbounded);
  const OptimiserResult plain = find_signal(Optimiser::newton_cg, unbounded, true);
  EXPECT_TRUE(newton.converged) << newton.reason;
  EXPECT_NEAR(newton.loss, plain.loss, 1e-6 * plain.loss);
  EXPECT_LT(4 * newton.hessian_products, plain.hessian_products);
}

TEST(NewtonCg, keeps_bounds_with_the_covariance_of_the_prior) {
  const double lower = -2.0;
  const OptimiserResult newton = find_signal(Optimiser::newton_cg, lower), lbfgs = find_signal(Optimiser::lbfgs, lower);
  EXPECT_TRUE(newton.converged) << newton.reason;
  double least = newton.u.empty() ? 0.0 : *std::min_element(newton.u.begin(), newton.u.end());
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  EXPECT_NEAR(least, lower, 1e-9);
  EXPECT_LE(newton.loss, lbfgs.loss * (1.0 + 1e-6));
}

TEST(NewtonCg, keeps_bounds) {
  Identification problem;
  const double lower = 3e4;  // above two of the true values
  const OptimiserResult newton = problem.run(Optimiser::newton_cg, lower);
  EXPECT_TRUE(newton.converged) << newton.reason;
  const std::vector<double> found = problem.found;
  for (const double value : found) EXPECT_GE(value, lower * (1.0 - 1e-12));
  EXPECT_NEAR(*std::min_element(found.begin(), found.end()), lower, 1e-9 * lower);
  const OptimiserResult lbfgs = problem.run(Optimiser::lbfgs, lower);
  EXPECT_NEAR(newton.loss, lbfgs.loss, 1e-6 * lbfgs.loss);
}

}  // namespace
}  // namespace diffsim::newton_cg_test
