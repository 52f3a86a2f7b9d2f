// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact in implicit steps: of a body with itself and with obstacles, on several ranks, and derivatives through
// contact.

#include <gtest/gtest.h>

#include <cmath>

#include "dynamics/system_model.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::implicit_contact_test {
namespace {

using namespace testing_contact;
using testing_simulation::momentum;
using testing_simulation::unknowns_of;

Scene implicit(Scene scene, const std::string& integrator, double dt) {
  scene.integrator = integrator;
  scene.dt = dt;
  return scene;
}

/// Runs steps and expects no intersections and no distance below 1 mm. Returns the largest number of active pairs in a
/// step.
std::int64_t run(DifferentiableScene& solver, State& state, int steps) {
  std::int64_t most = 0;
  for (int n = 0; n < steps; ++n) {
    solver.step(n, state);
    const ContactState contact = solver.contact_state(n + 1, state);
    most = std::max(most, contact.active_pairs);
    EXPECT_EQ(contact.intersections, 0);
    EXPECT_GT(contact.min_distance, 1e-3);
  }
  return most;
}

class ContactByIntegrator : public testing::TestWithParam<const char*> {};

TEST_P(ContactByIntegrator, blocks_bounce_off_each_other_and_keep_their_momentum) {
  for (const double friction : {0.0, 0.3}) {
    DifferentiableScene solver = make_solver(implicit(stack(0.4, friction), GetParam(), 0.004));
    Model& model = solver.model();
    model.prepare();
    State state = solver.initial_state();
    const std::array<double, 3> before = momentum(solver.system(), state);
    const double energy = solver.system().kinetic_energy(state) + solver.system().potential_energy(state);
    EXPECT_GT(run(solver, state, 12), 20);
    const std::array<double, 3> after = momentum(solver.system(), state);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(after[c], before[c], 1e-11);
    EXPECT_EQ(solver.contact_state(12, state).active_pairs, 0);
    EXPECT_LT(solver.system().kinetic_energy(state) + solver.system().potential_energy(state), energy);
  }
}

/// Checks derivatives with respect to all names for BDF2 and for scenes with gravity, and with respect to the first
/// name for others. On several ranks only dot products are checked, because errors of communication do not appear in
/// convergence orders.
void expect_derivatives(const Scene& scene, int steps, std::vector<std::string> names) {
  const bool all = scene.integrator == "bdf2" || scene.gravity[1] != 0.0;
  if (!all) names.resize(1);
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("top", BoxShape{{-1.0, scene.blocks.back().place[1] + 0.04, -1.0}, {1.0, 1.0, 1.0}});
  GradientCheckOptions options;
  options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  if (ranks() > 1) options.differences = false;
  testing_simulation::expect_derivatives(
      solver, steps, {{"all", {0.1, 0.3, -0.1}, steps}, {"top", {0.5, 0.3, 0.4}, steps}},
      unknowns_of(names, {"barrier_distance", "barrier_stiffness", "youngs_modulus"}), options);
}

TEST_P(ContactByIntegrator, derivatives_through_self_contact) {
  expect_derivatives(implicit(stack(0.4, 0.0), GetParam(), 0.004), 3,
                     {"barrier_distance", "initial_velocities", "barrier_stiffness", "youngs_modulus"});
}

TEST_P(ContactByIntegrator, derivatives_through_self_contact_with_friction) {
  expect_derivatives(implicit(stack(0.4, 0.3), GetParam(), 0.004), 3,
                     {"friction", "initial_positions", "friction_velocity", "barrier_distance"});
}

TEST_P(ContactByIntegrator, derivatives_through_contact_with_a_moving_obstacle) {
  expect_derivatives(implicit(roof(0.3), GetParam(), 0.01), 4,
                     {"obstacle_velocity:0", "barrier_stiffness", "obstacle_position:0", "friction"});
}

/// Scene of a block on a block on a plane. `push`: initial velocity of the upper block, m/s.
Scene rest(double push) {
  Scene scene = implicit(stack(0.4, 0.4), "implicit_euler", 0.01);
  scene.gravity = {1.0, -9.8, 0.5};
  scene.blocks[0].velocity = {};
  scene.blocks[1].velocity = {push, 0.0, 0.0};
  scene.contact.planes.push_back({.point = {0.0, -0.012, 0.0}, .normal = {0.0, 1.0, 0.0}});
  return scene;
}

TEST(implicit_contact, derivatives_at_rest_where_friction_sticks) {
  expect_derivatives(rest(0.0), 4, {"friction", "friction_velocity", "obstacle_position:0"});
}

TEST(implicit_contact, derivatives_through_sliding) {
  expect_derivatives(rest(0.6), 4, {"friction", "barrier_distance", "initial_velocities"});
}

const auto integrators = testing::Values("implicit_euler", "bdf2", "newmark", "generalised_alpha");
INSTANTIATE_TEST_SUITE_P(implicit_contact, ContactByIntegrator, integrators);

/// Gradient with respect to parameters of the contact law, gravity and an obstacle's position.
std::vector<double> gradient(const Scene& scene, int steps, MPI_Comm comm) {
  DifferentiableScene solver = make_solver(scene, comm);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.1, 0.3, -0.1}, steps);
  const std::vector<std::string> names{"barrier_stiffness", "barrier_distance", "friction", "gravity",
                                       "obstacle_position:0"};
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient(names);
  simulator.rollout(steps, 2, loss);
  simulator.backward();
  std::vector<double> all;
  for (const std::string& name : names)
    for (const double value : simulator.gradient(name).to_host()) all.push_back(value);
  return all;
}

/// A scene with friction and µ = 0 has the same steps as a scene without friction: the potential exists and matrices
/// are symmetric. The derivative with respect to µ exists.
TEST(implicit_contact, zero_friction_has_a_potential) {
  std::array<ImplicitStatistics, 2> statistics;
  for (const bool with_friction : {false, true}) {
    Scene scene = rest(0.6);
    scene.contact.friction = 0.0;
    scene.contact.with_friction = with_friction;
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    for (const auto& term : solver.system().terms()) {
      if (!term->limits_steps()) continue;
      EXPECT_EQ(term->uses_velocities(), with_friction) << term->name();
      EXPECT_TRUE(term->has_energy()) << term->name();
      EXPECT_TRUE(term->has_symmetric_jacobian()) << term->name();
    }
    State state = solver.initial_state();
    for (int n = 0; n < 4; ++n) solver.step(n, state);
    statistics[with_friction] = dynamic_cast<ImplicitModel&>(solver.model()).statistics();
    solver.parameters().at("friction").field.from_host({0.1});
    solver.model().prepare();
    for (const auto& term : solver.system().terms())
      if (term->limits_steps()) {
        EXPECT_EQ(term->has_energy(), !with_friction) << term->name();
      }
  }
  EXPECT_EQ(statistics[0].newton_iterations, statistics[1].newton_iterations);
  Scene scene = rest(0.6);
  scene.contact.friction = 0.0;
  scene.contact.with_friction = true;
  EXPECT_NE(gradient(scene, 4, MPI_COMM_WORLD).at(2), 0.0);
}

TEST(implicit_contact, does_not_depend_on_ranks) {
  if (ranks() == 1) GTEST_SKIP() << "one rank is what others are compared with";
  for (const double friction : {0.0, 0.3}) {
    Scene scene = implicit(stack(0.4, friction), "bdf2", 0.004);
    scene.contact.with_friction = true;
    scene.contact.planes.push_back({.point = {0.0, -0.005, 0.0}, .normal = {0.0, 1.0, 0.0}});
    const std::vector<double> here = digest(scene, 8, MPI_COMM_WORLD), alone = digest(scene, 8, MPI_COMM_SELF);
    EXPECT_GT(std::abs(alone[0]), 1.0);
    for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-10 * std::abs(alone[0]));
    const std::vector<double> slopes = gradient(scene, 6, MPI_COMM_WORLD), expected = gradient(scene, 6, MPI_COMM_SELF);
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(slopes[k], expected[k], 1e-9 * std::abs(expected[k]) + 1e-15) << k;
  }
}

}  // namespace
}  // namespace diffsim::implicit_contact_test
