// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies that bounce off, rest on and slide over a plane.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/dynamics/symplectic_euler.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

struct Scene {
  double height = 0.004;
  std::array<double, 3> velocity{0.0, 0.0, 0.0};
  double friction = 0.0;
  double damping = 1.0;
  double youngs_modulus = 5e4;
  double dt = 2e-4;
  std::array<double, 3> gravity{0.0, -9.8, 0.0};
  ContactOptions contact{.barrier_distance = 0.01, .barrier_stiffness = 4e4, .friction_velocity = 0.05};
};

DifferentiableSolver make_solver(const Scene& scene) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.2, 0.1, 0.1}, {4, 2, 2});
  DifferentiableMaterial material{
      "stable_neo_hookean",
      {{"youngs_modulus", scene.youngs_modulus}, {"poisson_ratio", 0.3}, {"density", 1000.0}},
      "all"};
  DifferentiableSolver solver(mesh, {material},
                              {.dt = scene.dt, .substeps = 2, .damping = scene.damping, .gravity = scene.gravity});
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

/// Momentum of the body, kg m/s, over all ranks.
std::array<double, 3> momentum(const SymplecticEuler& model, const State& state) {
  const std::vector<double> m = model.mass().to_host(), v = state["velocities"].to_host();
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < v.size(); ++i) sum[i % 3] += m[i / 3] * v[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void expect_derivatives(const Scene& scene, int steps, const std::vector<std::string>& names) {
  DifferentiableSolver solver = make_solver(scene);
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("x_max"),
                                                std::array<double, 3>{0.5, 0.3, 0.1}, steps));
  std::vector<Unknown> unknowns;
  for (const std::string& name : names) {
    Unknown unknown;
    unknown.parameter = name;
    unknown.logarithmic = name.starts_with("barrier");
    unknowns.push_back(unknown);
  }
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<UniformSchedule>(n, 16); };
  InverseProblem problem(solver.model(), solver.initial_state(), steps, loss, unknowns, schedule, store);
  for (const UnknownCheck& check : check_gradient(problem, problem.start())) {
    EXPECT_LE(check.dot_product_error, 1e-11) << check.name;
    EXPECT_TRUE(check.passed) << check.name << testing::PrintToString(check.taylor_orders);
  }
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

TEST(plane_contact, a_bounce_turns_the_momentum_and_keeps_the_energy) {
  DifferentiableSolver solver =
      make_solver({.height = 0.015, .velocity = {0.3, -1.0, 0.1}, .dt = 1e-4, .gravity = {0.0, 0.0, 0.0}});
  SymplecticEuler& model = solver.integrator();
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
  SymplecticEuler& model = solver.integrator();
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

TEST(plane_contact, what_passes_through_is_an_error_that_names_it) {
  DifferentiableSolver solver = make_solver({.height = 0.02, .velocity = {0.0, -150.0, 0.0}});
  solver.model().prepare();
  State state = solver.initial_state();
  try {
    solver.step(0, state);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("step 0, substep 1"), std::string::npos) << text;
    EXPECT_NE(text.find("and plane 0"), std::string::npos) << text;
    EXPECT_NE(text.find("smaller dt"), std::string::npos) << text;
  }
}

TEST(plane_contact, a_start_that_touches_is_refused) {
  DifferentiableSolver solver = make_solver({.height = 0.0});
  solver.model().prepare();
  State state = solver.initial_state();
  try {
    solver.step(0, state);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("at the start"), std::string::npos) << error.what();
  }
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
