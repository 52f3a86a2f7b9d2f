// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies and obstacles with a thickness: distances that contact keeps, forces, derivatives.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "contact/barrier.hpp"
#include "simulation/contact_bodies.hpp"
#include "simulation/contact_second_order.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::thickness_test {
namespace {

using namespace testing_contact;

/// Scene `tower`, whose neighbours are 9 to 11 mm apart, with thicknesses for all bodies, for one body, for either kind
/// of obstacle and for one pair.
Scene thick_tower(const std::string& integrator, bool friction) {
  Scene scene = tower({0.011, 3e3, friction ? 0.3 : 0.0, 0.9}, integrator);
  scene.contact.thickness = 3e-3;
  scene.contact.thicknesses = {{"high", 5e-3}};
  scene.contact.planes[0].thickness = 2e-3;
  scene.contact.meshes[0].thickness = 4e-3;
  scene.contact.pairs = {{{"low", "middle"}, {}, 5e3}};
  scene.contact.pairs[0].thickness = 2.5e-3;
  return scene;
}

const std::vector<std::string> thicknesses{"thickness", "thickness:high", "thickness:floor", "thickness:roof",
                                           "thickness:low|middle"};

class Thick : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(Thick, gradients_have_the_slopes_that_differences_have) {
  const auto& [integrator, friction] = GetParam();
  std::vector<std::string> names = thicknesses;
  names.insert(names.end(),
               {"barrier_distance", "barrier_stiffness", "barrier_stiffness:low|middle", "obstacle_position:floor",
                "obstacle_position:roof", "rest_positions", "initial_positions", "initial_velocities"});
  if (friction) names.insert(names.end(), {"friction", "friction_velocity"});
  const Scene scene = thick_tower(integrator, friction);
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 2, names);
}

INSTANTIATE_TEST_SUITE_P(thickness, Thick,
                         testing::Combine(testing::Values("symplectic_euler", "implicit_euler", "newmark"),
                                          testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) + (std::get<1>(which.param) ? "_friction" : "");
                         });

TEST(thickness, hessian_is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    std::vector<std::string> names = thicknesses;
    names.insert(names.end(), {"barrier_distance", "friction", "initial_velocities"});
    expect_second_order(thick_tower(integrator, true), names);
  }
}

std::vector<double> positions_after(DifferentiableScene solver, int steps) {
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  return state["positions"].to_host();
}

TEST(thickness, of_zero_changes_no_bit) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    Scene scene = tower({0.014, 3e3, 0.3, 0.9}, integrator);
    const std::vector<double> without = positions_after(make_solver(scene), 4);
    scene.contact.thickness = 0.0;
    scene.contact.thicknesses = {{"high", 0.0}};
    scene.contact.planes[0].thickness = scene.contact.meshes[0].thickness = 0.0;
    // A separate law for each kind of pair changes the order of sums.
    const std::vector<double> with = positions_after(make_solver(scene), 4);
    ASSERT_EQ(without.size(), with.size());
    for (std::size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(with[i], without[i], 1e-9 * std::abs(without[i]) + 1e-12);
    scene.contact.thicknesses.clear();
    scene.contact.planes[0].thickness = scene.contact.meshes[0].thickness = {};
    scene.contact.meshes[0].thickness = 0.0;
    if (is_explicit(integrator_named(integrator))) {
      Scene lone = stack(0.3, 0.3);
      const std::vector<double> thin = positions_after(make_solver(lone), 40);
      lone.contact.thickness = 0.0;
      EXPECT_EQ(positions_after(make_solver(lone), 40), thin);
    }
  }
}

/// Blocks that are thrown at each other keep distances above their thickness ξ, and reach distances below ξ + d̂.
TEST(thickness, is_kept_between_bodies_and_obstacles) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    Scene scene = thick_tower(integrator, true);
    scene.contact.barrier_distance = 4e-3;
    scene.contact.barrier_stiffness = 2e5;
    scene.contact.pairs[0].barrier_stiffness = 2e5;
    scene.gravity = {0.0, -9.8, 0.0};
    if (is_explicit(integrator_named(integrator))) scene.dt = 1e-4;
    DifferentiableScene solver = make_solver(scene);
    solver.require_apart();
    State state = solver.initial_state();
    double least = 1.0;
    std::int64_t most = 0;
    const int steps = is_explicit(integrator_named(integrator)) ? 600 : 15;
    for (int n = 0; n < steps; ++n) {
      solver.step(n, state);
      const ContactState now = solver.contact_state(n + 1, state);
      EXPECT_EQ(now.intersections, 0);
      least = std::min(least, now.min_distance);
      most = std::max(most, now.active_pairs);
    }
    EXPECT_GT(least, 0.0);
    EXPECT_LT(least, 4e-3);
    EXPECT_GT(most, 4);
  }
}

/// The force of a plane is that of the barrier with ξ = (ξ_body + ξ_plane)/2, at distances measured from ξ.
TEST(thickness, of_a_plane_and_a_body_add_up) {
  constexpr double gap = 0.004, range = 0.015;
  // Upward force of a plane on a block at the distance ξ + gap.
  const auto push = [](std::optional<double> of_body, std::optional<double> of_plane) {
    Scene scene = lone_block("symplectic_euler", 1e-3, 0.0);
    const double xi = 0.5 * (of_body.value_or(0.0) + of_plane.value_or(0.0));
    scene.contact.planes.push_back({.point = {0.0, -gap - xi, 0.0}, .label = "floor"});
    scene.contact.thickness = of_body;
    scene.contact.planes[0].thickness = of_plane;
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    const State start = solver.initial_state();
    EXPECT_NEAR(solver.contact_state(0, start).min_distance, gap, 1e-15);
    Field force = start["positions"].like("force");
    double sum = 0.0;
    for (const auto& term : solver.system().terms())
      if (term->limits_steps()) term->add_force({start["positions"]}, solver.parameters(), force);
    const std::vector<double> values = force.to_host();
    for (std::size_t i = 1; i < values.size(); i += 3) sum += values[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  const auto pressure = [](double xi) {
    return -2.0 * (xi + gap) * contact::Barrier(std::pow(xi + gap, 2), range, xi).gradient;
  };
  const double thin = push({}, {});
  EXPECT_GT(thin, 0.0);
  for (const double xi : {0.0, 1e-3, 0.02}) {
    const double expected = thin * pressure(xi) / pressure(0.0);
    for (const double found : {push(2.0 * xi, {}), push({}, 2.0 * xi), push(xi, xi), push(0.5 * xi, 1.5 * xi)})
      EXPECT_NEAR(found, expected, 1e-12 * thin);
  }
  EXPECT_LT(pressure(0.02), 0.7 * pressure(0.0));  // a thickness makes the barrier softer
}

TEST(thickness, of_a_start_that_is_nearer_is_refused_with_the_pair_and_the_place) {
  const auto message_of = [](const Scene& scene) -> std::string {
    try {
      make_solver(scene).require_apart();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Scene scene = thick_tower("symplectic_euler", false);
  EXPECT_EQ(message_of(scene), "");
  scene.contact.pairs[0].thickness = 0.0101;  // low and middle are 10 mm apart
  std::string message = message_of(scene);
  EXPECT_NE(message.find("of low"), std::string::npos) << message;
  EXPECT_NE(message.find("of middle"), std::string::npos) << message;
  EXPECT_NE(message.find("near ("), std::string::npos) << message;
  EXPECT_NE(message.find("0.01 m apart, which is not more than the mean of their thicknesses, 0.0101 m"),
            std::string::npos)
      << message;
  scene = thick_tower("symplectic_euler", false);
  scene.contact.planes[0].thickness = 0.05;
  message = message_of(scene);
  EXPECT_NE(message.find("of low and plane floor near ("), std::string::npos) << message;
}

TEST(thickness, of_less_than_nothing_or_of_nobody_is_refused) {
  const auto message_of = [](const ContactOptions& contact) -> std::string {
    Scene scene = thick_tower("symplectic_euler", false);
    scene.contact = contact;
    try {
      make_solver(scene);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  ContactOptions contact = soft(false);
  contact.thickness = -1e-3;
  EXPECT_NE(message_of(contact).find("thickness of bodies"), std::string::npos);
  contact.thickness = {};
  contact.thicknesses = {{"hihg", 1e-3}};
  EXPECT_NE(message_of(contact).find("thickness of 'hihg'"), std::string::npos);
}

}  // namespace
}  // namespace diffsim::thickness_test
