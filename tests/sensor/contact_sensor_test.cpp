// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Sensors of contact: forces of pairs against `contact_forces`, friction as the difference of scenes with and without
// friction, the pressure of a flat contact, all derivatives in one state, and errors.

#include "sensor/contact_sensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "error_text.hpp"
#include "sensor/sensor_derivatives.hpp"
#include "simulation/contact_bodies.hpp"

namespace diffsim::contact_sensor_test {
namespace {

using namespace testing_contact;
using testing_sensor::Amplitudes;
using testing_sensor::SensorRig;
using Numbers = std::vector<double>;
using Sides = std::array<std::string, 2>;

std::shared_ptr<Sensor> sensor_of(DifferentiableScene& scene, SensorQuantity quantity, const Sides& between) {
  return scene.sensor({.quantity = quantity, .between = between});
}

Numbers value(DifferentiableScene& scene, SensorQuantity quantity, const Sides& between) {
  return sensor_of(scene, quantity, between)->value(1, scene.initial_state());
}

double largest(const Numbers& values) {
  double most = 0.0;
  for (const double x : values) most = std::max(most, std::abs(x));
  return most;
}

void expect_equal(const Numbers& y, const Numbers& expected, double size) {
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t c = 0; c < y.size(); ++c) EXPECT_NEAR(y[c], expected[c], 1e-11 * size) << c;
}

/// The tower of contact_bodies.hpp with three laws, and its regions.
Scene tower_of_three_laws() {
  Scene scene = tower(hard_law, soft_law);
  scene.contact.pairs.push_back(pair_of("high", "roof", {0.014, 2e4, 0.7, 0.1}));
  scene.regions = {{"low/top", {{-1.0, 0.049, -1.0}, {1.0, 0.051, 1.0}}, "low"},
                   {"low/bottom", {{-1.0, -0.001, -1.0}, {1.0, 0.001, 1.0}}, "low"}};
  return scene;
}

TEST(contact_sensor, forces_are_those_of_the_scene_between_bodies_and_obstacles) {
  DifferentiableScene scene = make_solver(tower_of_three_laws());
  Numbers on_middle(3, 0.0);
  int touching = 0;
  for (const ContactForce& of : scene.contact_forces(1, scene.initial_state())) {
    SCOPED_TRACE(of.between[0] + " and " + of.between[1]);
    const Numbers expected(of.force.begin(), of.force.end());
    const double size = largest(expected);
    touching += size > 0.0;
    expect_equal(value(scene, SensorQuantity::contact_force, of.between), expected, size);
    Numbers reversed = value(scene, SensorQuantity::contact_force, {of.between[1], of.between[0]});
    for (double& component : reversed) component = -component;
    expect_equal(reversed, expected, size);
    for (std::size_t c = 0; c < 3; ++c) {
      on_middle[c] += of.between[0] == "middle" ? of.force[c] : 0.0;
      on_middle[c] -= of.between[1] == "middle" ? of.force[c] : 0.0;
    }
  }
  EXPECT_EQ(touching, 4);
  ASSERT_GT(largest(on_middle), 0.0);
  const Numbers low = value(scene, SensorQuantity::contact_force, {"low", "middle"});
  expect_equal(value(scene, SensorQuantity::contact_force, {"middle", "all"}), on_middle, largest(low));
}

TEST(contact_sensor, force_on_a_region_is_part_of_the_force_on_its_body) {
  DifferentiableScene scene = make_solver(tower_of_three_laws());
  const Numbers on_low = value(scene, SensorQuantity::contact_force, {"low", "floor"});
  ASSERT_GT(largest(on_low), 0.0);
  expect_equal(value(scene, SensorQuantity::contact_force, {"low/bottom", "floor"}), on_low, largest(on_low));
  EXPECT_EQ(value(scene, SensorQuantity::contact_force, {"low/top", "floor"}), Numbers(3, 0.0));
  // The middle block also touches the edges of the faces at the sides of the low block.
  const double by_middle = value(scene, SensorQuantity::contact_force, {"low", "middle"}).at(1),
               on_top = value(scene, SensorQuantity::contact_force, {"low/top", "middle"}).at(1);
  EXPECT_LT(on_top, 0.0);
  EXPECT_GE(on_top, (1.0 + 1e-9) * by_middle);
  EXPECT_EQ(value(scene, SensorQuantity::contact_force, {"low/bottom", "middle"}), Numbers(3, 0.0));
}

TEST(contact_sensor, friction_is_the_difference_to_contact_without_friction) {
  Scene without = tower(Law{hard_law.distance, hard_law.stiffness, 0.0, hard_law.velocity},
                        Law{soft_law.distance, soft_law.stiffness, 0.0, soft_law.velocity});
  DifferentiableScene rough = make_solver(tower(hard_law, soft_law)), smooth = make_solver(without);
  for (const Sides& between : {Sides{"low", "floor"}, Sides{"low", "middle"}, Sides{"roof", "high"}}) {
    SCOPED_TRACE(between[0] + " and " + between[1]);
    const Numbers all = value(rough, SensorQuantity::contact_force, between),
                  friction = value(rough, SensorQuantity::friction_force, between);
    Numbers normal = value(smooth, SensorQuantity::contact_force, between);
    const double size = largest(all);
    EXPECT_GT(largest(friction), 0.01 * size);
    for (std::size_t c = 0; c < 3; ++c) normal[c] += friction[c];
    expect_equal(normal, all, size);
  }
  EXPECT_CONTAINS(error_of([&] {
                    sensor_of(smooth, SensorQuantity::friction_force, {"low", "floor"});
                  }),
                  "has no friction");
}

TEST(contact_sensor, pressure_of_a_flat_contact_is_the_force_per_area_of_the_touching_vertices) {
  for (const double friction : {0.0, 0.4}) {
    Scene block = lone_block("symplectic_euler", 1e-3, friction);
    block.blocks[0].velocity = {0.3, 0.0, 0.1};
    block.contact.planes.push_back({.point = {0.0, -0.009, 0.0}, .normal = {0.0, 1.0, 0.0}, .label = "floor"});
    DifferentiableScene scene = make_solver(block);
    const contact::SurfaceAreas areas = contact::surface_areas(*scene.mesh());
    double area = 0.0;
    for (std::size_t i = 0; i < areas.vertices.size(); ++i)
      if (scene.mesh()->rest_positions()[3 * static_cast<std::size_t>(areas.vertices[i]) + 1] < 1e-9)
        area += areas.areas[i];
    area = sum_over_ranks(area, MPI_COMM_WORLD);
    const double force = value(scene, SensorQuantity::contact_force, {"body", "floor"}).at(1);
    ASSERT_GT(force, 0.0);
    for (const Sides& between : {Sides{"body", "floor"}, Sides{"floor", "body"}, Sides{"body", "all"}})
      EXPECT_NEAR(value(scene, SensorQuantity::contact_pressure, between).at(0), force / area, 1e-12 * force / area);
    // Without contact, the pressure is zero.
    State away = scene.initial_state();
    Numbers x = away["positions"].to_host();
    for (double& coordinate : x) coordinate += 1.0;
    away["positions"].from_host(x);
    EXPECT_EQ(sensor_of(scene, SensorQuantity::contact_pressure, {"body", "floor"})->value(1, away), Numbers{0.0});
  }
}

TEST(contact_sensor, values_do_not_depend_on_the_number_of_ranks_and_follow_parameters) {
  DifferentiableScene scene = make_solver(tower_of_three_laws()),
                      alone = make_solver(tower_of_three_laws(), MPI_COMM_SELF);
  for (const SensorQuantity quantity :
       {SensorQuantity::contact_force, SensorQuantity::friction_force, SensorQuantity::contact_pressure}) {
    const Numbers expected = value(alone, quantity, {"middle", "high"});
    ASSERT_GT(largest(expected), 0.0);
    expect_equal(value(scene, quantity, {"middle", "high"}), expected, largest(expected));
  }
  const auto sensor = sensor_of(scene, SensorQuantity::contact_pressure, {"high", "middle"});
  const State state = scene.initial_state();
  const double before = sensor->value(1, state).at(0);
  Field& stiffness = scene.parameters().at("barrier_stiffness").field;
  stiffness.fill(3.0 * stiffness.to_host().at(0));
  EXPECT_NEAR(sensor->value(1, state).at(0), 3.0 * before, 1e-11 * before);
}

TEST(contact_sensor, has_the_derivatives_that_differences_have) {
  const Scene described = tower_of_three_laws();
  const Amplitudes of_plane{{"positions", 1e-4},
                            {"velocities", 2e-2},
                            {"rest_positions", 1e-3},
                            {"barrier_distance:floor|low", 5e-5},
                            {"barrier_stiffness:floor|low", 2e3},
                            {"friction:floor|low", 0.05},
                            {"friction_velocity:floor|low", 2e-3},
                            {"obstacle_position:floor", 1e-4},
                            {"obstacle_velocity:floor", 2e-2}};
  const Amplitudes of_bodies{{"positions", 1e-4},        {"velocities", 2e-2}, {"rest_positions", 1e-3},
                             {"barrier_distance", 5e-5}, {"friction", 0.05},   {"friction_velocity", 2e-3},
                             {"barrier_stiffness", 2e3}};
  const Amplitudes of_roof{{"positions", 1e-4},
                           {"velocities", 2e-2},
                           {"rest_positions", 1e-3},
                           {"friction:high|roof", 0.05},
                           {"barrier_distance:high|roof", 5e-5},
                           {"obstacle_position:roof", 1e-4},
                           {"obstacle_velocity:roof", 2e-2}};
  const auto expect = [&](SensorQuantity quantity, const Sides& between, const Amplitudes& amplitudes) {
    DifferentiableScene scene = make_solver(described);
    const auto sensor = sensor_of(scene, quantity, between);
    SCOPED_TRACE(sensor->name());
    SensorRig(scene, *sensor, 1, scene.initial_state()).expect_all_derivatives(amplitudes);
  };
  // Normal forces do not depend on velocities and friction.
  const auto normal = [](Amplitudes amplitudes) {
    std::erase_if(amplitudes, [](const auto& one) { return one.first.starts_with("friction"); });
    return amplitudes;
  };
  expect(SensorQuantity::contact_force, {"low", "floor"}, of_plane);
  expect(SensorQuantity::contact_force, {"high", "middle"}, of_bodies);
  expect(SensorQuantity::friction_force, {"roof", "high"}, of_roof);
  expect(SensorQuantity::contact_pressure, {"low", "floor"}, normal(of_plane));
  expect(SensorQuantity::contact_pressure, {"middle", "high"}, normal(of_bodies));
}

TEST(contact_sensor, is_refused_for_sides_that_cannot_touch) {
  Scene described = tower_of_three_laws();
  ContactPair apart{{"low", "high"}};
  apart.touch = false;
  described.contact.pairs.push_back(apart);
  DifferentiableScene scene = make_solver(described);
  const auto refused = [&](const SensorSpec& spec) { return error_of([&] { scene.sensor(spec); }); };
  const auto force = [&](const Sides& between) {
    return refused({.quantity = SensorQuantity::contact_force, .between = between});
  };
  EXPECT_CONTAINS(force({"low", "flor"}), "there is no body, obstacle or region 'flor'; did you mean 'floor'?");
  EXPECT_CONTAINS(force({"floor", "roof"}), "both names are obstacles");
  EXPECT_CONTAINS(force({"low", "low/top"}), "belong to one body");
  EXPECT_CONTAINS(force({"low", "high"}), "do not touch each other");
  EXPECT_CONTAINS(force({"low", ""}), "name two bodies, or a body and an obstacle, in `between`");
  EXPECT_CONTAINS(refused({.quantity = SensorQuantity::volume, .between = {"low", "floor"}}), "remove `between`");
  EXPECT_CONTAINS(
      refused({.quantity = SensorQuantity::contact_force, .place = {.region = "low/top"}, .between = {"low", "floor"}}),
      "remove the region or point");
  DifferentiableScene free(scene.mesh(), scene.materials(), {.dt = 1e-3});
  EXPECT_CONTAINS(error_of([&] {
                    free.sensor({.quantity = SensorQuantity::contact_force, .between = {"low", "floor"}});
                  }),
                  "the scene has no contact");
}

}  // namespace
}  // namespace diffsim::contact_sensor_test
