// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::testing_contact {

/// Expects the Hessian of a loss of the blocks' final positions, with respect to the named parameters, to be symmetric.
/// On one rank, also expects the remainder of the second-order expansion of the loss to be of third order.
inline void expect_second_order(const Scene& scene, const std::vector<std::string>& names) {
  const int steps = is_explicit(integrator_named(scene.integrator)) ? 8 : 3;
  DifferentiableScene solver = make_solver(scene);
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("all"),
                                                std::array<double, 3>{0.2, 0.3, -0.1}, steps));
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), steps, loss, testing_simulation::unknowns_of(names, {}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  HessianCheckOptions options;
  if (ranks() > 1) options.differences = false;
  const HessianCheck result = check_hessian(problem, problem.start(), options);
  EXPECT_LE(result.symmetry, 1e-10);
  EXPECT_TRUE(ranks() > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
  EXPECT_FALSE(result.quadratic);
}

}  // namespace diffsim::testing_contact
