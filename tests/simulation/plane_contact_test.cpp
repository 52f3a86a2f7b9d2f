// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies that bounce off, rest on and slide over a plane.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/core/error.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim {
namespace {

using namespace testing_simulation;

struct Scene {
  double height = 0.004;
  std::array<double, 3> velocity{0.0, 0.0, 0.0};
  double friction = 0.0;
  double damping = 1.0;
  double youngs_modulus = 5e4;
  std::string integrator = "symplectic_euler";
  double dt = 2e-4;
  std::array<double, 3> gravity{0.0, -9.8, 0.0};
  ContactOptions contact{.barrier_distance = 0.01, .barrier_stiffness = 4e4, .friction_velocity = 0.05};
};

DifferentiableSolver make_solver(const Scene& scene) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.2, 0.1, 0.1}, {4, 2, 2});
  DifferentiableSolver solver = make_soft_solver(mesh, scene.youngs_modulus,
                                                 {.dt = scene.dt,
                                                  .substeps = 2,
                                                  .damping = scene.damping,
                                                  .gravity = scene.gravity,
                                                  .integrator = scene.integrator});
  ContactOptions contact = scene.contact;
  contact.friction = scene.friction;
  contact.planes.push_back({.point = {0.0, -scene.height, 0.0}, .normal = {0.0, 2.0, 0.0}});
  solver.add_contact(contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), scene.velocity.begin(), scene.velocity.end());
  solver.set_initial_velocity(velocity);
  return solver;
}

void expect_derivatives(const Scene& scene, int steps, const std::vector<std::string>& names,
                        double tolerance = 1e-11) {
  DifferentiableSolver solver = make_solver(scene);
  GradientCheckOptions options;
  options.dot_product_tolerance = tolerance;
  testing_simulation::expect_derivatives(solver, steps, {{"x_max", {0.5, 0.3, 0.1}, steps}},
                                         unknowns_of(names, {"barrier_distance", "barrier_stiffness"}), options);
}

const std::vector<std::string> parameters = {"barrier_stiffness",   "barrier_distance",  "obstacle_position:0",
                                             "obstacle_velocity:0", "initial_positions", "initial_velocities"};

TEST(plane_contact, derivatives_through_a_bounce) {
  expect_derivatives({.height = 0.012, .velocity = {0.3, -0.5, 0.0}, .dt = 1e-3}, 30, parameters);
}

TEST(plane_contact, derivatives_through_sliding_with_friction) {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"friction", "friction_velocity"});
  expect_derivatives({.height = 0.009, .velocity = {0.5, 0.0, 0.2}, .friction = 0.4, .dt = 1e-3}, 20, all);
}

TEST(plane_contact, derivatives_at_rest_with_friction) {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"friction", "friction_velocity"});
  expect_derivatives({.height = 0.0095, .friction = 0.4, .damping = 0.99, .dt = 1e-3, .gravity = {1.0, -9.8, 0.0}}, 20,
                     all);
}

/// A plane's force needs no other rank, so of implicit steps, which take long, one integrator is tested on several.
bool on_several_ranks() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks > 1;
}

TEST(plane_contact, derivatives_of_implicit_steps_through_a_landing_with_friction) {
  for (const char* integrator : {"bdf2", "implicit_euler", "newmark"}) {
    SCOPED_TRACE(integrator);
    expect_derivatives(
        {.height = 0.011, .velocity = {0.3, -0.3, 0.0}, .friction = 0.4, .integrator = integrator, .dt = 4e-3}, 4,
        {"friction", "obstacle_velocity:0"}, 1e-10);
    if (on_several_ranks()) return;
  }
}

/// Velocity along a slope of tilt 0.5 (tilted gravity) at the end of each implicit step, from rest.
std::vector<double> slide(double mu, int steps) {
  const double angle = 0.5, g = 9.8;
  Scene scene{.height = 0.0097, .friction = mu, .youngs_modulus = 2e6, .integrator = "implicit_euler", .dt = 0.01};
  scene.gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0};
  scene.contact.friction_velocity = 1e-3;
  DifferentiableSolver solver = make_solver(scene);
  MeshModel& model = solver.integrator();
  model.prepare();
  State state = solver.initial_state();
  double mass = 1000.0 * 0.2 * 0.1 * 0.1;
  std::vector<double> speeds;
  for (int n = 0; n < steps; ++n) {
    model.step(n, state, nullptr);
    speeds.push_back(momentum(model, state)[0] / mass);
  }
  return speeds;
}

TEST(plane_contact, an_implicit_block_on_a_slope_sticks_and_slides_as_coulomb_says) {
  if (on_several_ranks()) return;
  const double tangent = std::tan(0.5), pull = 9.8 * std::sin(0.5), press = 9.8 * std::cos(0.5);
  EXPECT_LT(slide(1.01 * tangent, 20).back(), 1e-3);  // sticks: creeps below ε_v
  const auto acceleration = [](const std::vector<double>& v) { return (v[29] - v[14]) / 0.15; };
  EXPECT_NEAR(acceleration(slide(0.99 * tangent, 30)), 0.01 * pull, 0.01 * pull * 0.1);
  EXPECT_NEAR(acceleration(slide(0.3, 30)), pull - 0.3 * press, 0.01 * (pull - 0.3 * press));
}

TEST(plane_contact, a_bounce_turns_the_momentum_and_keeps_the_energy) {
  DifferentiableSolver solver =
      make_solver({.height = 0.015, .velocity = {0.3, -1.0, 0.1}, .dt = 1e-4, .gravity = {0.0, 0.0, 0.0}});
  MeshModel& model = solver.integrator();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(model, state);
  const double energy = model.kinetic_energy(state) + model.potential_energy(state);
  double most = 0.0, least = 1.0;
  std::int64_t touching = 0;
  for (int n = 0; n < 700; ++n) {
    model.step(n, state, nullptr);
    if (n % 10 != 0) continue;
    most = std::max(most, std::abs(model.kinetic_energy(state) + model.potential_energy(state) - energy));
    const ContactState contact = solver.contact_state(n, state);
    touching = std::max(touching, contact.active_pairs);
    least = std::min(least, contact.min_distance);
  }
  const std::array<double, 3> after = momentum(model, state);
  EXPECT_GT(touching, 10);
  EXPECT_GT(least, 0.0);
  EXPECT_EQ(solver.contact_state(0, state).active_pairs, 0);
  EXPECT_GT(after[1], 0.5 * std::abs(before[1]));  // part of it goes into vibration
  EXPECT_NEAR(after[0], before[0], 1e-12);         // no friction
  EXPECT_NEAR(after[2], before[2], 1e-12);
  EXPECT_LE(most, 0.01 * energy);
}

TEST(plane_contact, in_an_implicit_bounce_energy_never_grows) {
  if (on_several_ranks()) return;
  DifferentiableSolver solver = make_solver({.height = 0.015,
                                             .velocity = {0.3, -1.0, 0.1},
                                             .integrator = "implicit_euler",
                                             .dt = 2e-3,
                                             .gravity = {0.0, 0.0, 0.0}});
  MeshModel& model = solver.integrator();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(model, state);
  double energy = model.kinetic_energy(state);
  std::int64_t touching = 0;
  for (int n = 0; n < 40; ++n) {
    model.step(n, state, nullptr);
    const double now = model.kinetic_energy(state) + model.potential_energy(state);
    EXPECT_LE(now, energy * (1.0 + 1e-12)) << n;
    energy = now;
    touching = std::max(touching, solver.contact_state(n + 1, state).active_pairs);
  }
  const std::array<double, 3> after = momentum(model, state);
  EXPECT_GT(touching, 10);
  EXPECT_EQ(solver.contact_state(40, state).active_pairs, 0);
  EXPECT_GT(after[1], 0.1 * std::abs(before[1]));
  EXPECT_NEAR(after[0], before[0], 1e-10);
  EXPECT_NEAR(after[2], before[2], 1e-10);
}

TEST(plane_contact, a_block_slides_with_the_friction_of_coulomb) {
  // Tilted gravity instead of a tilted plane.
  const double mu = 0.3, angle = 0.5, g = 9.8;
  DifferentiableSolver solver =
      make_solver({.height = 0.0097,
                   .velocity = {3.0, 0.0, 0.0},
                   .friction = mu,
                   .youngs_modulus = 2e6,
                   .gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0},
                   .contact = {.barrier_distance = 0.01, .barrier_stiffness = 4e4, .friction_velocity = 0.01}});
  MeshModel& model = solver.integrator();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(model, state);
  const int steps = 1500;
  for (int n = 0; n < steps; ++n) model.step(n, state, nullptr);
  const std::array<double, 3> after = momentum(model, state);
  const double mass = 1000.0 * 0.2 * 0.1 * 0.1, time = steps * 2e-4;
  // Impulses: along the slope m g sinθ t - µ ∫N, and ∫N = m g cosθ t + the change of the normal momentum.
  const double normal = mass * g * std::cos(angle) * time + after[1] - before[1];
  const double acceleration = (after[0] - before[0]) / mass / time,
               expected = g * (std::sin(angle) - mu * std::cos(angle));
  EXPECT_NEAR(acceleration, g * std::sin(angle) - mu * normal / mass / time, 0.001 * expected);
  EXPECT_NEAR(acceleration, expected, 0.01 * expected);
}

/// A glancing blow in so many steps: how far friction's work is from the energy that is gone, as a part of it.
double work_off(int steps) {
  const double dt = 0.05 / steps;
  DifferentiableSolver solver = make_solver(
      {.height = 0.012, .velocity = {1.0, -1.0, 0.2}, .friction = 0.4, .dt = dt, .gravity = {0.0, 0.0, 0.0}});
  const auto [before, gone, work] = energy_balance(solver, steps, dt);
  EXPECT_GT(work, 0.1 * before);
  return std::abs(gone - work) / work;
}

TEST(plane_contact, friction_takes_the_energy_that_is_gone) {
  const double coarse = work_off(500), fine = work_off(1000);
  EXPECT_LE(fine, 0.01);
  EXPECT_NEAR(coarse / fine, 2.0, 0.3);  // of first order, as the steps
}

TEST(plane_contact, what_passes_through_is_an_error_that_names_it) {
  DifferentiableSolver solver = make_solver({.height = 0.02, .velocity = {0.0, -150.0, 0.0}});
  EXPECT_EQ(expect_step_refused(solver, {"step 0, substep 1", "and plane 0", "smaller dt"}), ErrorKind::run);
}

TEST(plane_contact, a_start_that_touches_is_refused) {
  DifferentiableSolver solver = make_solver({.height = 0.0});
  EXPECT_EQ(expect_step_refused(solver, {"at the start"}), ErrorKind::input);
}

TEST(plane_contact, refuses_values_without_sense) {
  for (const ContactOptions& options :
       {ContactOptions{.barrier_distance = 0.0}, ContactOptions{.barrier_stiffness = -1.0},
        ContactOptions{.friction = -0.1}, ContactOptions{.friction_velocity = 0.0}}) {
    Scene scene;
    scene.contact = options;
    scene.friction = options.friction;
    EXPECT_THROW(make_solver(scene), Error);
  }
}

}  // namespace
}  // namespace diffsim
