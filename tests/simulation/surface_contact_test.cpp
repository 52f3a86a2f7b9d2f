// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of bodies of one mesh with each other and with obstacles of triangles.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/error.hpp"
#include "dynamics/system_model.hpp"
#include "max_or_nan.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::surface_contact_test {
namespace {

using namespace testing_contact;
using testing_simulation::momentum;
using testing_simulation::unknowns_of;

/// Largest relative energy error during a bounce of `steps` steps.
double energy_off(Scene scene, int steps) {
  scene.dt = 0.1 / steps;
  DifferentiableScene solver = make_solver(scene);
  Model& model = solver.model();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(solver.system(), state);
  const double energy = solver.system().kinetic_energy(state) + solver.system().potential_energy(state);
  std::int64_t most = 0;
  double off = 0.0;
  for (int n = 0; n < steps; ++n) {
    model.step(n, state, nullptr);
    if (n % (steps / 50) != 0) continue;
    const ContactState contact = solver.contact_state(n + 1, state);
    most = std::max(most, contact.active_pairs);
    EXPECT_EQ(contact.intersections, 0);
    EXPECT_GT(contact.min_distance, 0.01);
    off = max_or_nan(
        off, std::abs(solver.system().kinetic_energy(state) + solver.system().potential_energy(state) - energy));
  }
  const std::array<double, 3> after = momentum(solver.system(), state);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(after[c], before[c], 1e-12);
  EXPECT_GT(most, 20);
  EXPECT_EQ(solver.contact_state(steps, state).active_pairs, 0);
  return off / energy;
}

TEST(surface_contact, two_blocks_bounce_off_each_other_and_keep_momentum_and_energy) {
  const double coarse = energy_off(stack(0.4, 0.0), 200), fine = energy_off(stack(0.4, 0.0), 800);
  EXPECT_LE(fine, 0.012);
  EXPECT_NEAR(coarse / fine, 4.0, 0.5);  // first order in dt
}

TEST(surface_contact, friction_takes_the_energy_that_is_gone) {
  // A block slides on another one, with two common velocities. The work of friction depends on relative velocities
  // only.
  for (const double push : {0.0, 0.5}) {
    Scene scene = stack(0.4, 0.4);
    scene.dt = 2e-4;
    scene.blocks[0].velocity = {push, 0.3, 0.0};
    scene.blocks[1].velocity = {push + 1.0, -0.3, 0.1};
    DifferentiableScene solver = make_solver(scene);
    const auto [before, gone, work] = testing_simulation::energy_balance(solver, 400, scene.dt);
    EXPECT_GT(work, 0.02 * before);
    EXPECT_NEAR(gone, work, 0.02 * work);
  }
}

TEST(surface_contact, does_not_depend_on_ranks) {
  if (ranks() == 1) GTEST_SKIP() << "one rank is what others are compared with";
  // Self-contact with friction. Each rank also runs the whole scene alone.
  const std::vector<double> here = digest(stack(0.4, 0.3), 100, MPI_COMM_WORLD);
  const std::vector<double> alone = digest(stack(0.4, 0.3), 100, MPI_COMM_SELF);
  EXPECT_GT(std::abs(alone[0]), 1.0);
  for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-11 * std::abs(alone[0]));
}

void expect_derivatives(const Scene& scene, int steps, const std::vector<std::string>& names) {
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("top", BoxShape{{-1.0, scene.blocks.back().place[1] + 0.04, -1.0}, {1.0, 1.0, 1.0}});
  testing_simulation::expect_derivatives(solver, steps,
                                         {{"all", {0.1, 0.3, -0.1}, steps}, {"top", {0.5, 0.3, 0.4}, steps}},
                                         unknowns_of(names, {"barrier_distance", "barrier_stiffness"}));
}

TEST(surface_contact, derivatives_through_self_contact) {
  expect_derivatives(stack(0.4, 0.0), 30, {"barrier_distance", "initial_velocities"});
}

TEST(surface_contact, derivatives_through_self_contact_with_friction) {
  expect_derivatives(stack(0.4, 0.3), 25, {"barrier_stiffness", "friction", "friction_velocity", "initial_velocities"});
}

TEST(surface_contact, derivatives_through_contact_with_a_mesh_obstacle) {
  expect_derivatives(
      roof(0.3), 60,
      {"obstacle_position:0", "obstacle_velocity:0", "barrier_stiffness", "barrier_distance", "friction"});
}

TEST(surface_contact, a_start_with_bodies_in_each_other_is_refused_with_pairs_and_places) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"})
    for (const double gap : {-0.01, 0.0}) {  // intersecting bodies; touching faces
      Scene scene = stack(0.0, 0.0);
      scene.integrator = integrator;
      scene.blocks[1].place = {0.013, 0.05 + gap, 0.017};
      DifferentiableScene solver = make_solver(scene);
      SumLoss nothing;
      const auto kind = testing_simulation::expect_refused(
          [&] { DifferentiableSimulator(solver).rollout(1, 0, nothing); },
          {"the body touches or intersects at the start, ", " times: ", " near (", "; move them apart"});
      EXPECT_EQ(kind, ErrorKind::input);
      testing_simulation::expect_refused(
          [&] {
            DifferentiableSimulator(solver).rollout(StepRange{0, 1}, {}, nothing);
          },
          {"the body touches or intersects at the start, "});
    }
}

TEST(surface_contact, a_passage_is_an_error_that_names_the_pair) {
  for (const Integrator explicit_or_not : integrators()) {
    if (!is_explicit(explicit_or_not)) continue;
    const std::string integrator = name_of(explicit_or_not);
    SCOPED_TRACE(integrator);
    Scene scene = roof(0.0);
    scene.integrator = integrator;
    scene.blocks[0].velocity = {0.0, -150.0, 0.0};
    DifferentiableScene solver = make_solver(scene);
    EXPECT_EQ(testing_simulation::expect_step_refused(
                  solver, {"step 0, substep 0: ", "contact would be passed through", "obstacle 0's"}),
              ErrorKind::run);
  }
}

}  // namespace
}  // namespace diffsim::surface_contact_test
