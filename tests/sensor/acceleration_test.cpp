// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Accelerations: against differences of the velocities of steps, all derivatives in one state, and errors.

#include "sensor/acceleration.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/sensor/sensor.hpp"
#include "error_text.hpp"
#include "sensor/sensor_derivatives.hpp"

namespace diffsim::acceleration_test {
namespace {

using Numbers = std::vector<double>;

const SensorPlace half{.region = "half"}, point{.point = std::array<double, 3>{0.27, 0.13, 0.06}};

DifferentiableScene make_bar(const std::string& integrator, double dt) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {4, 2, 1});
  mesh->define_region("half", BoxShape{{-1.0, -1.0, -1.0}, {0.201, 1.0, 1.0}});
  const DifferentiableMaterial rubber("neo_hookean",
                                      {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1100.0}}, "all");
  DifferentiableSolver options{
      .dt = dt, .substeps = 1, .damping = 1.0, .gravity = {0.5, -9.8, 1.5}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  DifferentiableScene scene(mesh, {rubber}, options);
  scene.fix("x_min");
  Numbers velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double* X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {2.0 * X[0], 1.5 * X[0] - X[1] * X[0], 3.0 * X[0]});
  }
  scene.set_initial_velocity(velocity);
  return scene;
}

/// Velocities and accelerations of a place after 0, 1, … steps.
struct Motion {
  std::vector<Numbers> v, a;
};

Motion motion_of(DifferentiableScene& scene, const SensorPlace& place, int steps) {
  const auto velocity = scene.sensor({.quantity = SensorQuantity::velocity, .place = place});
  const auto acceleration = scene.sensor({.quantity = SensorQuantity::acceleration, .place = place});
  EXPECT_EQ(acceleration->unit(), "m/s²");
  Motion motion;
  State state = scene.initial_state();
  for (int n = 0; n <= steps; ++n) {
    if (n > 0) scene.step(n - 1, state);
    motion.v.push_back(velocity->value(n, state));
    motion.a.push_back(acceleration->value(n, state));
  }
  return motion;
}

TEST(acceleration, is_the_difference_of_velocities_of_implicit_steps) {
  constexpr double dt = 0.01;
  for (const SensorPlace& place : {half, point})
    for (const char* integrator : {"implicit_euler", "bdf2"}) {
      SCOPED_TRACE(integrator);
      DifferentiableScene scene = make_bar(integrator, dt);
      scene.add_traction("x_max", {100.0, -50.0, 20.0, 300.0, 40.0, -70.0, 0.0, 200.0, 30.0, 60.0, 0.0, 10.0});
      const Motion motion = motion_of(scene, place, 4);
      for (std::size_t n = 1; n <= 4; ++n)
        for (std::size_t c = 0; c < 3; ++c) {
          // The first step of bdf2 is a step of implicit Euler.
          const bool is_euler = n == 1 || integrator == std::string("implicit_euler");
          const double difference =
              is_euler ? (motion.v[n][c] - motion.v[n - 1][c]) / dt
                       : (3.0 * motion.v[n][c] - 4.0 * motion.v[n - 1][c] + motion.v[n - 2][c]) / (2.0 * dt);
          EXPECT_NEAR(motion.a[n][c], difference, 1e-7 * (1.0 + std::abs(difference))) << n << " " << c;
        }
    }
}

TEST(acceleration, is_the_difference_of_velocities_of_the_next_explicit_step) {
  constexpr double dt = 2e-4;
  for (const SensorPlace& place : {half, point}) {
    DifferentiableScene scene = make_bar("symplectic_euler", dt);
    const Motion motion = motion_of(scene, place, 4);
    for (std::size_t n = 0; n < 4; ++n)
      for (std::size_t c = 0; c < 3; ++c) {
        const double difference = (motion.v[n + 1][c] - motion.v[n][c]) / dt;
        EXPECT_NEAR(motion.a[n][c], difference, 1e-9 * (1.0 + std::abs(difference))) << n << " " << c;
      }
  }
}

TEST(acceleration, has_the_derivatives_that_differences_have) {
  for (const SensorPlace& place : {half, point}) {
    DifferentiableScene scene = make_bar("implicit_euler", 0.01);
    const auto sensor = scene.sensor({.quantity = SensorQuantity::acceleration, .place = place});
    scene.model().prepare();
    State state = scene.initial_state();
    for (int n = 0; n < 2; ++n) scene.step(n, state);
    testing_sensor::SensorRig(scene, *sensor, 2, state.clone())
        .expect_all_derivatives({{"positions", 1e-3},
                                 {"velocities", 1e-2},
                                 {"rest_positions", 1e-3},
                                 {"youngs_modulus", 5e3},
                                 {"poisson_ratio", 0.02},
                                 {"density", 50.0},
                                 {"gravity", 0.5}});
  }
}

TEST(acceleration, is_refused_where_forces_do_not_give_the_motion) {
  DifferentiableScene scene = make_bar("implicit_euler", 0.01);
  scene.move("x_max", {1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {1.0}, {0.0, 0.0, 0.0});
  const auto refused = [&](const std::string& region) {
    return error_of([&] { scene.sensor({.quantity = SensorQuantity::acceleration, .place = {.region = region}}); });
  };
  EXPECT_CONTAINS(refused("x_max"), "includes fixed or moved vertices");
  EXPECT_CONTAINS(refused("all"), "includes fixed or moved vertices");
  scene.mesh()->define_region("middle", BoxShape{{0.09, -1.0, -1.0}, {0.31, 1.0, 1.0}});
  EXPECT_EQ(refused("middle"), "no error");
}

}  // namespace
}  // namespace diffsim::acceleration_test
