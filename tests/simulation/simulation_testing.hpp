// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "diffsim/dynamics/mesh_model.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::testing_simulation {

/// Momentum of the body, kg m/s, over all ranks.
inline std::array<double, 3> momentum(const MeshModel& model, const State& state) {
  const std::vector<double> m = model.mass().to_host(), v = state["velocities"].to_host();
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < v.size(); ++i) sum[i % 3] += m[i / 3] * v[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// The mean of a region shall be at `target` at a step: smooth, and blind to no parameter.
struct Target {
  std::string region;
  std::array<double, 3> target;
  int step;
  double weight = 1.0;
};

/// Parameters as unknowns, those in `logarithmic` searched so.
inline std::vector<Unknown> unknowns_of(const std::vector<std::string>& names,
                                        const std::vector<std::string>& logarithmic) {
  std::vector<Unknown> unknowns;
  for (const std::string& name : names) {
    Unknown unknown;
    unknown.parameter = name;
    for (const std::string& other : logarithmic) unknown.logarithmic = unknown.logarithmic || name == other;
    unknowns.push_back(unknown);
  }
  return unknowns;
}

/// Dot products within options.dot_product_tolerance and, unless max_halvings is 0, second order of the remainders, of
/// a rollout with snapshots every few steps. DIFFSIM_VERBOSE=1 prints them.
inline void expect_derivatives(DifferentiableSolver& solver, int num_steps, const std::vector<Target>& targets,
                               const std::vector<Unknown>& unknowns, const GradientCheckOptions& options = {}) {
  SumLoss loss;
  for (const Target& target : targets)
    loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region(target.region), target.target,
                                                  target.step),
             target.weight);
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<UniformSchedule>(n, n < 12 ? 3 : 16); };
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  for (const UnknownCheck& check : check_gradient(problem, problem.start(), options)) {
    EXPECT_LE(check.dot_product_error, options.dot_product_tolerance) << check.name;
    if (options.max_halvings == 0) continue;
    EXPECT_TRUE(check.passed) << check.name << testing::PrintToString(check.taylor_orders);
    if (!std::getenv("DIFFSIM_VERBOSE")) continue;
    std::printf("%-24s %10.2e  eps %g linear %d orders", check.name.c_str(), check.dot_product_error, check.first_step,
                check.linear);
    for (const double order : check.taylor_orders) std::printf(" %.4f", order);
    std::printf("\n");
  }
}

}  // namespace diffsim::testing_simulation
