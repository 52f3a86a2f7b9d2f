// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rotating planes: nothing passes through them, and derivatives with respect to their motion.

#include <gtest/gtest.h>

#include <cmath>

#include "simulation/contact_blocks.hpp"

namespace diffsim::turning_plane_test {
namespace {

using namespace testing_contact;
using testing_simulation::momentum;

/// Scene of a free block above a plane that rotates about an axis.
Scene above_a_plane(const std::string& integrator, double dt, const Rotation& rotation, double friction) {
  Scene scene = lone_block(integrator, dt, friction);
  scene.contact.planes.push_back(
      {.point = {0.0, -0.02, 0.0}, .normal = {0.0, 1.0, 0.0}, .velocity = {0.0, 0.1, 0.0}, .rotation = rotation});
  return scene;
}

class Turning : public testing::TestWithParam<const char*> {};

TEST_P(Turning, strikes_the_body_up_and_is_not_passed) {
  // The axis is a distant line parallel to z. In an implicit step the plane moves by 27 mm, more than the gap of 20 mm.
  const bool is_explicit = diffsim::is_explicit(integrator_named(GetParam()));
  const double dt = is_explicit ? 2e-4 : 0.01, rate = 9.0;
  const int steps = is_explicit ? 200 : 4;
  Scene scene = above_a_plane(GetParam(), dt, {{0.0, 0.0, 3.0}, {-0.2, -0.05, 0.4}, rate}, 0.0);
  scene.contact.barrier_stiffness = 4e5;
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) {
    solver.step(n, state);
    // Distances from the plane in the x-y plane, computed independently of the library.
    const double t = (n + 1) * dt, s = std::sin(rate * t), c = std::cos(rate * t);
    const double px = -0.2 + 0.2 * c - 0.03 * s, py = -0.05 + 0.1 * t + 0.2 * s + 0.03 * c;
    const std::vector<double> x = state["positions"].to_host();
    double least = 1.0;
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices()); i += 3)
      least = std::min(least, c * (x[i + 1] - py) - s * (x[i] - px));
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_GT(least, 0.0) << n;
    EXPECT_NEAR(solver.contact_state(n + 1, state).min_distance, least, 1e-14) << n;
  }
  // Speed of the plane under the body's centre at the start. Without friction, an elastic impact gives the body twice
  // this speed, and a completely inelastic impact gives the body this speed.
  const double speed = 0.1 + rate * (0.2 + 0.05), mass = 1000.0 * 0.1 * 0.05 * 0.1;
  const double velocity = momentum(solver.system(), state)[1] / mass;
  EXPECT_GT(velocity, speed);
  EXPECT_LT(velocity, 2.1 * speed);
}

INSTANTIATE_TEST_SUITE_P(planes, Turning,
                         testing::Values("symplectic_euler", "velocity_verlet", "runge_kutta_4", "implicit_euler",
                                         "bdf2", "newmark"));

TEST(turning_plane, a_whole_turn_is_cut_though_it_ends_where_it_began) {
  const double turn = 8.0 * std::atan(1.0);
  DifferentiableScene solver = make_solver(above_a_plane("implicit_euler", 1.0, {{0.0, 0.0, 1.0}, {}, turn}, 0.0));
  solver.model().prepare();
  const State state = solver.initial_state();
  const ParameterSet& parameters = solver.parameters();
  for (const auto& term : solver.system().terms()) {
    if (!term->limits_steps()) continue;
    const Configuration from{state["positions"]}, to{state["positions"], 0, nullptr, nullptr, 1.0};
    double step = term->max_step(from, to, parameters);
    MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_GT(step, 0.0);
    EXPECT_LT(step, 0.5);
    EXPECT_EQ(solver.contact_state(0, state).intersections, 0);
    const Configuration cut{state["positions"], 0, nullptr, nullptr, step};
    EXPECT_EQ(dynamic_cast<ContactTerm&>(*term).state(cut, parameters).intersections, 0);
    EXPECT_NE(term->limiting(), "");
  }
}

const std::vector<std::string> motion = {"obstacle_angular_velocity:0", "obstacle_velocity:0", "obstacle_position:0",
                                         "friction", "initial_positions"};

const Rotation askew{{0.2, 0.9, 0.1}, {0.05, -0.04, 0.03}, 3.0};

TEST(turning_plane, derivatives_in_explicit_steps) {
  Scene scene = above_a_plane("symplectic_euler", 1e-3, askew, 0.4);
  scene.blocks[0].velocity = {0.1, -0.5, 0.0};
  expect_derivatives_of_place(scene, 30, motion);
}

TEST(turning_plane, derivatives_in_implicit_steps) {
  for (const char* integrator : {"implicit_euler", "newmark"}) {
    SCOPED_TRACE(integrator);
    Scene scene = above_a_plane(integrator, 0.01, askew, 0.4);
    scene.blocks[0].velocity = {0.1, -0.5, 0.0};
    expect_derivatives_of_place(scene, 4, motion);
  }
}

TEST(turning_plane, one_that_turns_about_its_normal_spins_the_body_by_friction_alone) {
  const auto spin = [](double friction) {
    // The axis passes through the middle of the body.
    Scene scene = above_a_plane("symplectic_euler", 5e-4, {{0.0, 1.0, 0.0}, {0.05, 0.0, 0.05}, 4.0}, friction);
    scene.blocks[0].velocity = {0.0, -0.3, 0.0};
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    State state = solver.initial_state();
    for (int n = 0; n < 150; ++n) solver.step(n, state);
    const std::vector<double> x = state["positions"].to_host(), v = state["velocities"].to_host(),
                              m = solver.system().mass().to_host();
    double momentum = 0.0;
    for (std::size_t k = 0; k < m.size(); ++k)
      momentum += m[k] * ((x[3 * k + 2] - 0.05) * v[3 * k] - (x[3 * k] - 0.05) * v[3 * k + 2]);
    MPI_Allreduce(MPI_IN_PLACE, &momentum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return momentum;
  };
  const double inertia = 1000.0 * 0.1 * 0.05 * 0.1 * (0.1 * 0.1 + 0.1 * 0.1) / 12.0;
  EXPECT_LT(std::abs(spin(0.0)), 1e-12);
  EXPECT_GT(spin(0.5), 0.1 * inertia * 4.0);
}

}  // namespace
}  // namespace diffsim::turning_plane_test
