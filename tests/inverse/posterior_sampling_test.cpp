// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The Laplace approximation of a posterior of six stiffnesses against importance sampling with 10⁴ rollouts.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::posterior_sampling_test {
namespace {

constexpr std::size_t parts = 6;
constexpr int num_steps = 10, num_samples = 10000;
constexpr double noise = 1e-3;

/// Samples of the standard normal distribution.
struct Draw {
  std::mt19937_64 random{3};
  std::normal_distribution<double> normal;
  double operator()() { return normal(random); }
};

/// Logarithms of the stiffnesses of the six parts of a cantilever, which follow each other along x.
Unknown stiffness_of_parts(const TetrahedralMesh& mesh) {
  Unknown stiffness{.parameter = "youngs_modulus"};
  stiffness.logarithmic = true;
  stiffness.start = {1e4, 2e4, 3e4, 2e4, 1.5e4, 3e4};
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    double x = 0.0;
    for (const int v : mesh.cells().subspan(4 * static_cast<std::size_t>(cell), 4))
      x += 0.25 * mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
    stiffness.group.push_back(static_cast<int>(x / 0.1));
  }
  stiffness.group_names.assign(parts, "");
  return stiffness;
}

/// Returns the positions after the last step for the unknowns' start values, with errors.
std::map<int, std::vector<double>> observations(DifferentiableScene& scene, const Unknown& stiffness, Draw& draw) {
  std::map<int, std::vector<double>> observed;
  SumLoss nothing;
  InverseProblem truth(scene.model(), scene.initial_state(), num_steps, nothing, {stiffness});
  truth.set(truth.start());
  State state = truth.initial().clone();
  rollout(scene.model(), state, num_steps, nullptr, [&](int n, const State& at) {
    if (n != num_steps) return;
    observed[n] = at["positions"].to_host();
    for (double& x : observed[n]) x += noise * draw();
  });
  return observed;
}

/// Returns the Cholesky factor L of a covariance matrix L Lᵀ: [parts, parts].
std::vector<double> cholesky_factor(const std::vector<double>& covariance) {
  std::vector<double> L(parts * parts, 0.0);
  for (std::size_t i = 0; i < parts; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[parts * i + j];
      for (std::size_t k = 0; k < j; ++k) sum -= L[parts * i + k] * L[parts * j + k];
      L[parts * i + j] = i == j ? std::sqrt(sum) : sum / L[parts * j + j];
    }
  return L;
}

/// Weighted samples of the posterior distribution.
struct Samples {
  double effective;               ///< effective number of samples
  std::vector<double> deviation;  ///< standard deviations of the unknowns
};

/// Draws samples of a normal distribution that is wider than the Laplace approximation, and weights the samples with
/// the posterior density over that of the normal distribution.
Samples importance_samples(InverseProblem& problem, const OptimiserResult& found, const Posterior& laplace,
                           Draw& draw) {
  constexpr double widening = 1.2;
  const std::vector<double> L = cholesky_factor(laplace.covariance);
  double total = 0.0, squares = 0.0;
  std::vector<double> mean(parts, 0.0), square(parts, 0.0);
  for (int sample = 0; sample < num_samples; ++sample) {
    double z[parts], half_norm = 0.0;
    for (double& entry : z) {
      entry = draw();
      half_norm += 0.5 * entry * entry;
    }
    std::vector<double> u = found.u, step(parts, 0.0);
    for (std::size_t i = 0; i < parts; ++i) {
      for (std::size_t j = 0; j <= i; ++j) step[i] += widening * L[parts * i + j] * z[j];
      u[i] += step[i];
    }
    const double weight = std::exp(half_norm - (problem.value(u) - found.loss));
    total += weight;
    squares += weight * weight;
    for (std::size_t i = 0; i < parts; ++i) {
      mean[i] += weight * step[i];
      square[i] += weight * step[i] * step[i];
    }
  }
  Samples samples{total * total / squares, {}};
  for (std::size_t i = 0; i < parts; ++i)
    samples.deviation.push_back(std::sqrt(square[i] / total - std::pow(mean[i] / total, 2)));
  return samples;
}

TEST(posterior_sampling, deviations_of_six_stiffnesses_are_those_of_samples) {
  // A cantilever of six parts that bends under its weight.
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.6, 0.1, 0.1}, {6, 1, 1});
  DifferentiableScene scene(
      mesh,
      {DifferentiableMaterial("neo_hookean", {{"density", 1000.0}, {"youngs_modulus", 3e4}, {"poisson_ratio", 0.3}})},
      {.dt = 0.02, .substeps = 4, .damping = 1.0});
  scene.fix("x_min");
  const Unknown stiffness = stiffness_of_parts(*mesh);
  Draw draw;
  SumLoss loss;
  loss.add_likelihood(std::make_unique<TrackLoss>(*mesh, observations(scene, stiffness, draw), mesh->region("all")),
                      noise);
  InverseProblem problem(scene.model(), scene.initial_state(), num_steps, loss, {stiffness});
  problem.add_prior(0, make_normal_prior(MPI_COMM_WORLD, problem.start(), std::vector<double>(parts, 1.0)));
  const OptimiserResult found = optimise(problem, {.method = Optimiser::newton_cg, .gradient_tolerance = 1e-9});
  ASSERT_TRUE(found.converged) << found.reason;
  const Posterior laplace = posterior(curvature(problem, found.u));

  const Samples samples = importance_samples(problem, found, laplace, draw);
  EXPECT_GT(samples.effective, 0.2 * num_samples);
  for (std::size_t i = 0; i < parts; ++i) {
    const double deviation = samples.deviation[i];
    EXPECT_NEAR(laplace.deviation[i], deviation, 0.1 * deviation) << i;
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("part %zu: deviation of ln E %.4f, of %.0f effective samples %.4f\n", i, laplace.deviation[i],
                  samples.effective, deviation);
  }
}

}  // namespace
}  // namespace diffsim::posterior_sampling_test
