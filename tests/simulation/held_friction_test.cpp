// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Steps with friction that Newton's method does not solve directly: friction is frozen, and the remaining problem has a
// potential.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/contact_skins.hpp"

namespace diffsim::held_friction_test {
namespace {

using namespace testing_contact;

/// Scene of three bodies, a moving plane and a moving sheet. If `own_surfaces` is true, two of the bodies have contact
/// surfaces of their own.
Scene frictional_tower(const std::string& integrator, bool own_surfaces, int max_stalled) {
  Scene scene = own_surfaces ? tower_with_skins(integrator, true) : tower({0.014, 3e3, 0.3, 0.9}, integrator);
  scene.contact.friction_velocity = 0.005;
  scene.max_stalled = max_stalled;
  return scene;
}

const ImplicitStatistics& statistics_of(DifferentiableScene& solver) {
  return dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
}

struct Result {
  std::vector<double> positions, gradient;  // after six steps; with respect to µ, ε_v and κ
  long held_rounds = 0;
};

Result run(const Scene& scene) {
  constexpr int steps = 6;
  DifferentiableScene solver = make_solver(scene);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.05, 0.1, 0.04}, steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"friction", "friction_velocity", "barrier_stiffness"});
  simulator.rollout(steps, {}, loss);
  Result result;
  result.held_rounds = statistics_of(solver).held_rounds;
  simulator.backward();
  for (const Parameter& parameter : simulator.gradient()) {
    const std::vector<double> values = parameter.field.to_host();
    result.gradient.insert(result.gradient.end(), values.begin(), values.end());
  }
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  result.positions = state["positions"].to_host();
  return result;
}

/// Tests in which Newton's method gives up after two iterations without progress (max_stalled = 2).
class HeldFriction : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(HeldFriction, leads_to_the_solution_that_newtons_method_finds_with_patience) {
  const auto [integrator, own_surfaces] = GetParam();
  const Result patient = run(frictional_tower(integrator, own_surfaces, 50)),
               hasty = run(frictional_tower(integrator, own_surfaces, 2));
  EXPECT_EQ(patient.held_rounds, 0);
  EXPECT_GT(hasty.held_rounds, 0);
  ASSERT_EQ(hasty.positions.size(), patient.positions.size());
  double moved = 0.0;
  for (std::size_t i = 0; i < patient.positions.size(); ++i) {
    EXPECT_NEAR(hasty.positions[i], patient.positions[i], 1e-9) << i;
    moved = std::max(moved, std::abs(patient.positions[i]));
  }
  EXPECT_GT(moved, 0.01);
  ASSERT_EQ(hasty.gradient.size(), patient.gradient.size());
  for (std::size_t i = 0; i < patient.gradient.size(); ++i)
    EXPECT_NEAR(hasty.gradient[i], patient.gradient[i], 1e-6 * std::abs(patient.gradient[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(held_friction, HeldFriction,
                         testing::Combine(testing::Values("implicit_euler", "newmark"), testing::Bool()));

/// Split terms with friction frozen at the current configuration have the same force as the original terms. Afterwards
/// the original terms are restored.
TEST(HeldFriction, splits_terms_into_parts_of_the_same_force) {
  DifferentiableScene solver = make_solver(frictional_tower("implicit_euler", true, 50));
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < 2; ++n) solver.step(n, state);
  System& system = solver.system();
  ASSERT_TRUE(system.can_split());
  const auto names = [&] {
    std::vector<std::string> result;
    for (const auto& term : system.terms()) result.push_back(term->name());
    return result;
  };
  Field v = system.local_field("v"), force = v.like("force"), of_parts = v.like("of_parts");
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] = 0.3 * std::sin(40.0 * state["positions"].data()[i] + static_cast<double>(i % 3));
  Configuration at{state["positions"], 2, nullptr, &v, 0.008};
  const std::vector<std::string> before = names();
  const auto with_friction =
      std::count_if(system.terms().begin(), system.terms().end(), [](const auto& term) { return !term->has_energy(); });
  EXPECT_GE(with_friction, 2);  // the plane's term and the surfaces' term
  system.compute_force(at, force);
  system.split(true);
  EXPECT_EQ(system.terms().size(), before.size() + static_cast<std::size_t>(with_friction));
  for (const auto& term : system.terms()) EXPECT_TRUE(term->has_energy()) << term->name();
  at.start_positions = &state["positions"];
  at.start_time = at.time;
  system.compute_force(at, of_parts);
  system.split(false);
  EXPECT_EQ(names(), before);
  double largest = 0.0;
  for (std::size_t i = 0; i < force.owned_size(); ++i) largest = std::max(largest, std::abs(force.data()[i]));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_GT(largest, 0.1);
  for (std::size_t i = 0; i < force.owned_size(); ++i)
    EXPECT_NEAR(of_parts.data()[i], force.data()[i], 1e-13 * largest) << i;
}

}  // namespace
}  // namespace diffsim::held_friction_test
