// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Curvature of a loss and the Laplace approximation of the posterior.

#include "diffsim/inverse/posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::posterior_test {
namespace {

constexpr int num_steps = 5;
constexpr double dt = 0.01, noise = 2e-4;

/// Cube that falls freely, with its positions after each step as observations.
struct FallingCube {
  FallingCube()
      : mesh(TetrahedralMesh::create_cube(MPI_COMM_WORLD, 2, 0.1)),
        scene(mesh,
              {DifferentiableMaterial("neo_hookean",
                                      {{"density", 1000.0}, {"youngs_modulus", 1e4}, {"poisson_ratio", 0.3}})},
              {.dt = dt, .substeps = 1, .damping = 1.0}) {
    std::map<int, std::vector<double>> observed;
    State state = scene.initial_state();
    rollout(scene.model(), state, num_steps, nullptr, [&](int n, const State& at) {
      std::vector<double> x = at["positions"].to_host();
      x.resize(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
      if (n > 0) observed[n] = std::move(x);
    });
    loss.add_likelihood(std::make_unique<TrackLoss>(*mesh, observed, mesh->region("all")), noise);
  }
  InverseProblem problem(std::vector<Unknown> unknowns) {
    return {scene.model(), scene.initial_state(), num_steps, loss, std::move(unknowns)};
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  DifferentiableScene scene;
  SumLoss loss;
};

/// Curvature of the likelihood in each component of gravity: x[n] = X + g dt² n (n + 1)/2 at 27 vertices.
double expected_curvature() {
  double sum = 0.0;
  for (int n = 1; n <= num_steps; ++n) sum += 27.0 * std::pow(dt * dt * n * (n + 1) / 2.0, 2) / (noise * noise);
  return sum;
}

TEST(posterior, of_gravity_is_that_of_a_linear_regression) {
  FallingCube cube;
  EXPECT_EQ(cube.loss.unit(), "1");
  InverseProblem problem = cube.problem({{.parameter = "gravity"}});
  const Curvature bent = curvature(problem, problem.start());
  ASSERT_EQ(bent.size, 3u);
  EXPECT_TRUE(unidentified(bent).empty());
  const double deviation = 1.0 / std::sqrt(expected_curvature());
  const Posterior found = posterior(bent);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.deviation[i], deviation, 1e-9 * deviation);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(found.correlation[3 * i + j], i == j ? 1.0 : 0.0, 1e-9);
  }
}

TEST(posterior, combines_the_likelihood_with_a_prior) {
  FallingCube cube;
  InverseProblem problem = cube.problem({{.parameter = "gravity"}});
  const std::vector<double> u = problem.start();
  const double sigma = 0.5 / std::sqrt(expected_curvature());
  problem.add_prior(0, make_normal_prior(MPI_COMM_WORLD, u, std::vector<double>(u.size(), sigma)));
  EXPECT_NEAR(problem.prior(u), 0.0, 1e-15);
  std::vector<double> moved = u;
  for (double& value : moved) value += 3.0 * sigma;
  EXPECT_NEAR(problem.prior(moved), 0.5 * 9.0 * 3.0, 1e-9);
  // The likelihood has ¼ of the prior's precision.
  EXPECT_NEAR(problem.value(moved), 0.5 * 9.0 * 3.0 * 1.25, 1e-6);
  std::vector<double> gradient;
  EXPECT_NEAR(problem.gradient(moved, gradient), problem.value(moved), 1e-9);
  for (const double slope : gradient) EXPECT_NEAR(slope, 3.0 * 1.25 / sigma, 1e-6 * slope);
  const Posterior found = posterior(curvature(problem, u));
  for (const double deviation : found.deviation) EXPECT_NEAR(deviation, sigma / std::sqrt(1.25), 1e-9 * sigma);
}

TEST(posterior, names_the_direction_that_the_observations_do_not_determine) {
  FallingCube cube;
  Unknown stiffness{.parameter = "youngs_modulus"};
  stiffness.group.assign(static_cast<std::size_t>(cube.mesh->num_cells()), 0);
  stiffness.group_names = {""};
  stiffness.logarithmic = true;
  InverseProblem problem = cube.problem({{.parameter = "gravity"}, stiffness});
  const Curvature bent = curvature(problem, problem.start());
  ASSERT_EQ(bent.size, 4u);
  const std::vector<std::size_t> flat = unidentified(bent);
  ASSERT_EQ(flat.size(), 1u);  // the cube does not deform
  EXPECT_NEAR(std::abs(bent.directions[4 * flat[0] + 3]), 1.0, 1e-9);
  EXPECT_NEAR(bent.slopes[flat[0]], 0.0, 1e-9);
}

TEST(posterior, needs_values_that_all_ranks_share_and_a_minimum) {
  FallingCube cube;
  InverseProblem problem = cube.problem({{.parameter = "youngs_modulus"}});
  try {
    curvature(problem, problem.start());
    ADD_FAILURE() << "a value per cell was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("value for each cell"), std::string::npos);
  }
  Curvature saddle;
  saddle.size = 2;
  saddle.scale = {1.0, 1.0};
  saddle.eigenvalues = {-1.0, 4.0};
  saddle.directions = {1.0, 0.0, 0.0, 1.0};
  EXPECT_TRUE(unidentified(saddle).empty());
  EXPECT_THROW(posterior(saddle), Error);
}

}  // namespace
}  // namespace diffsim::posterior_test
