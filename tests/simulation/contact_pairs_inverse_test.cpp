// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Three blocks slide on a table, each with its own coefficient of friction. One noisy motion determines all three
// coefficients.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "core/file_order.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "simulation/contact_bodies.hpp"

namespace diffsim::contact_pairs_inverse_test {
namespace {

using namespace testing_contact;

constexpr int num_steps = 160;
constexpr double noise = 2e-5;  // m; the blocks slide by about 15 mm
const std::vector<std::string> blocks{"red", "green", "blue"};
const std::vector<double> true_friction{0.15, 0.3, 0.45};

/// Scene of a fixed table and three blocks that slide on it under gravity.
Scene table() {
  Scene scene;
  scene.dt = 2.5e-4;
  scene.gravity = {0.0, -9.8, 0.0};
  scene.blocks = {{{0.4, 0.05, 0.1}, {4, 1, 1}, {0.0, 0.0, 0.0}, 0.0, {}, "table"},
                  {{0.04, 0.04, 0.04}, {1, 1, 1}, {0.05, 0.0545, 0.03}, 0.1, {0.45, 0.0, 0.05}, "red"},
                  {{0.04, 0.04, 0.04}, {1, 1, 1}, {0.16, 0.0545, 0.03}, 0.3, {0.45, 0.0, 0.05}, "green"},
                  {{0.04, 0.04, 0.04}, {1, 1, 1}, {0.27, 0.0545, 0.03}, -0.2, {0.45, 0.0, 0.05}, "blue"}};
  scene.contact.barrier_distance = 5e-3;
  scene.contact.barrier_stiffness = 2e3;
  scene.contact.friction_velocity = 0.02;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    scene.contact.pairs.push_back({{blocks[k], "table"}, {}, {}, true_friction[k]});
  return scene;
}

DifferentiableScene make_table() {
  DifferentiableScene solver = make_solver(table());
  solver.mesh()->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 0.001, 1.0}});
  solver.fix("foot");
  return solver;
}

/// Positions of owned vertices at every tenth step, with noise that does not depend on the ranks.
std::map<int, std::vector<double>> observe(DifferentiableScene& solver) {
  solver.model().prepare();
  State state = solver.initial_state();
  std::map<int, std::vector<double>> observed;
  for (int n = 1; n <= num_steps; ++n) {
    solver.step(n - 1, state);
    if (n % 10 != 0) continue;
    std::vector<double>& x = observed[n] = state["positions"].to_host();
    x.resize(3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = solver.mesh()->vertex_order().file_index()[i / 3];
      std::mt19937_64 random(static_cast<std::uint64_t>(1000 * number + 3 * n) + i % 3);
      x[i] += std::normal_distribution<double>(0.0, noise)(random);
    }
  }
  return observed;
}

TEST(contact_pairs, three_coefficients_of_friction_are_found_from_one_noisy_motion) {
  DifferentiableScene solver = make_table();
  const auto observed = observe(solver);
  TrackLoss loss(*solver.mesh(), observed, solver.mesh()->region("all"));
  std::vector<Unknown> unknowns;
  for (const std::string& block : blocks) {
    Unknown& unknown = unknowns.emplace_back();
    unknown.parameter = "friction:" + block + "|table";
    unknown.lower = 0.0;
    unknown.start = {0.25};
  }
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns,
      [](int n) { return std::make_unique<UniformSchedule>(n, 16); }, store);
  OptimiserOptions options;
  options.max_iterations = 30;
  options.gradient_tolerance = 1e-5;
  const OptimiserResult result = optimise(problem, options);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    std::vector<double> found = problem.physical(k, result.u);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) continue;
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: %.6f of %.2f\n", blocks[k].c_str(), found.at(0), true_friction[k]);
    EXPECT_NEAR(found.at(0), true_friction[k], 0.01 * true_friction[k]) << blocks[k];
  }
  // The remaining loss is that of the noise: half of the sum of the squares of three components.
  EXPECT_NEAR(result.loss, 1.5 * noise * noise, 0.1 * noise * noise);
}

}  // namespace
}  // namespace diffsim::contact_pairs_inverse_test
