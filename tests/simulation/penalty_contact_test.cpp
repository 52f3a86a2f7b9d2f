// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact with a penalty instead of a barrier: derivatives, dissipation, equilibrium and restitution.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "contact/penalty.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/contact_bodies.hpp"
#include "simulation/contact_second_order.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::penalty_contact_test {
namespace {

using namespace testing_contact;

/// Scene `tower` with a penalty for all pairs but one, which has a barrier, and with thicknesses that the surfaces
/// enter.
Scene penalty_tower(const std::string& integrator, bool dissipates) {
  Scene scene = tower({0.011, 3e3, dissipates ? 0.3 : 0.0, 0.9}, integrator);
  ContactOptions& contact = scene.contact;
  contact.law = ContactLawKind::penalty;
  contact.damping = dissipates ? 0.6 : 0.0;
  contact.thickness = 9.5e-3;
  contact.planes[0].thickness = 2e-3;
  contact.pairs = {{{"low", "middle"}, {}, 5e3}, {{"middle", "high"}}};
  contact.pairs[0].thickness = 10.5e-3;  // the bodies are 10 mm apart
  if (dissipates) contact.pairs[0].damping = 1.1;
  contact.pairs[1].law = ContactLawKind::barrier;
  contact.pairs[1].thickness = 3e-3;
  contact.pairs[1].barrier_stiffness = 4e3;
  return scene;
}

const std::vector<std::string> elastic_names{"barrier_distance",
                                             "barrier_stiffness",
                                             "barrier_stiffness:low|middle",
                                             "barrier_stiffness:middle|high",
                                             "thickness",
                                             "thickness:floor",
                                             "thickness:low|middle",
                                             "obstacle_position:floor",
                                             "obstacle_position:roof",
                                             "rest_positions",
                                             "initial_positions",
                                             "initial_velocities"};
const std::vector<std::string> dissipating_names{"contact_damping", "contact_damping:low|middle", "friction",
                                                 "friction_velocity", "obstacle_velocity:floor"};

class Penalty : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(Penalty, gradients_have_the_slopes_that_differences_have) {
  const auto& [integrator, dissipates] = GetParam();
  std::vector<std::string> names = elastic_names;
  if (dissipates) names.insert(names.end(), dissipating_names.begin(), dissipating_names.end());
  const Scene scene = penalty_tower(integrator, dissipates);
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 2, names);
}

INSTANTIATE_TEST_SUITE_P(penalty_contact, Penalty,
                         testing::Combine(testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler",
                                                          "bdf2", "newmark"),
                                          testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) + (std::get<1>(which.param) ? "_damped" : "");
                         });

TEST(penalty_contact, hessian_is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    std::vector<std::string> names = dissipating_names;
    names.insert(names.end(), {"barrier_stiffness", "thickness", "initial_velocities", "initial_positions"});
    expect_second_order(penalty_tower(integrator, true), names);
  }
}

TEST(penalty_contact, tangents_and_adjoints_agree) {
  for (const bool lagged : {false, true})
    for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
      SCOPED_TRACE(integrator);
      Scene scene = lone_block(integrator, std::string(integrator) == "symplectic_euler" ? 5e-4 : 0.01, 0.4);
      scene.contact.law = ContactLawKind::penalty;
      scene.contact.damping = 2.0;
      scene.contact.lagged_friction = lagged;
      scene.gravity = {1.0, -9.8, 0.5};
      scene.contact.planes.push_back({.point = {0.0, 0.001, 0.0}, .normal = {0.1, 1.0, 0.0}});
      expect_derivatives_of_place(scene, 4,
                                  {"friction", "contact_damping", "barrier_distance", "barrier_stiffness",
                                   "initial_positions", "initial_velocities"});
    }
}

/// A block rests in a plane: the penalty carries the weight of the block at the depth that the stiffness gives.
TEST(penalty_contact, carries_a_block_inside_a_plane) {
  Scene scene = lone_block("implicit_euler", 0.02, 0.0);
  scene.contact.law = ContactLawKind::penalty;
  scene.contact.barrier_distance = 1e-3;
  scene.contact.barrier_stiffness = 100.0;
  scene.contact.damping = 1.0;
  scene.gravity = {0.0, -9.8, 0.0};
  scene.contact.planes.push_back({.point = {0.0, 0.0, 0.0}, .label = "floor"});
  DifferentiableScene solver = make_solver(scene);
  solver.require_apart();
  State state = solver.initial_state();
  for (int n = 0; n < 200; ++n) solver.step(n, state);
  const double weight = 1000.0 * 9.8 * 0.1 * 0.1 * 0.05;
  const std::vector<ContactForce> forces = solver.contact_forces(200, state);
  ASSERT_EQ(forces.size(), 1u);
  EXPECT_NEAR(forces[0].force[1], weight, 1e-5 * weight);
  const ContactState now = solver.contact_state(200, state);
  EXPECT_EQ(now.intersections, 0);
  // κ (1 - g/d̂)² is the pressure of the weight at the mean depth. The vertices of the lowest face represent this face
  // and half of the four faces at its sides. The block is soft, so its centre and its corners have different depths.
  const double area = 0.1 * 0.1 + 0.5 * 4.0 * 0.1 * 0.05;
  const double depth = scene.contact.barrier_distance * (std::sqrt(weight / area / 100.0) - 1.0);
  EXPECT_LT(now.min_distance, -depth);
  EXPECT_GT(now.min_distance, -1.6 * depth);
}

/// Velocity after the impact of a mass m at the velocity -v on a penalty of total stiffness k (N), range d̂ and damping
/// c, by small steps of the classical Runge–Kutta method for m g'' = k r² (1 - P'(c g')), r = 1 - g/d̂.
double speed_after_impact(double m, double k, double range, double c, double v) {
  double g = range, rate = -v;
  const auto acceleration = [&](double at, double speed) {
    const double r = contact::compression(at, range);
    return r > 0.0 ? k * r * r * (1.0 - contact::damping_factor(c * speed)) / m : 0.0;
  };
  const double h = 1e-3 * range / v;
  for (int n = 0; n < 1000000 && (n == 0 || g < range); ++n) {
    const double a1 = acceleration(g, rate), a2 = acceleration(g + 0.5 * h * rate, rate + 0.5 * h * a1),
                 a3 = acceleration(g + 0.5 * h * (rate + 0.5 * h * a1), rate + 0.5 * h * a2),
                 a4 = acceleration(g + h * (rate + 0.5 * h * a2), rate + h * a3);
    g += h * (rate + h / 6.0 * (a1 + a2 + a3));
    rate += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  return rate;
}

/// Falls of a horizontal segment of springs on a plane with several dampings. Without damping, the impact conserves the
/// energy; with damping, the velocity after the impact is that of the equation of motion. The error is of order 2.
TEST(penalty_contact, has_the_restitution_of_its_damping) {
  constexpr double mass = 0.004, kappa = 2e5, range = 0.01, length = 0.2, speed = 1.5;
  const auto bounce = [&](double damping, int substeps) {
    std::vector<NamedMesh> bodies;
    bodies.push_back({"bar", testing_spring::segments(MPI_COMM_WORLD, {{0, 0.011, 0}, {length, 0.011, 0}}, {{0, 1}})});
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    DifferentiableScene solver(mesh, {{"springs", {{"spring_stiffness", 10.0}, {"point_mass", mass}}, "all"}},
                               {.dt = 2e-3,
                                .substeps = substeps,
                                .damping = 1.0,
                                .gravity = {0.0, 0.0, 0.0},
                                .integrator = integrator_named("velocity_verlet")});
    ContactOptions contact;
    contact.law = ContactLawKind::penalty;
    contact.barrier_distance = range;
    contact.barrier_stiffness = kappa;
    contact.damping = damping;
    contact.planes.push_back({.point = {0.0, 0.0, 0.0}, .normal = {0.0, 1.0, 0.0}});
    solver.add_contact(contact);
    std::vector<double> start;
    for (int v = 0; v < mesh->num_owned_vertices(); ++v) start.insert(start.end(), {0.0, -speed, 0.0});
    solver.set_initial_velocity(start);
    solver.model().prepare();
    State state = solver.initial_state();
    for (int n = 0; n < 40; ++n) solver.step(n, state);
    const std::vector<double> v = state["velocities"].to_host();
    double up[2] = {0.0, 0.0};
    for (std::size_t i = 1; i < v.size(); i += 3) up[0] += v[i], up[1] += 1.0;
    MPI_Allreduce(MPI_IN_PLACE, up, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return up[0] / up[1];
  };
  for (const double damping : {0.0, 0.1, 0.8}) {
    const double stiffness = kappa * 0.5 * range * 0.5 * length;  // of each end of the bar
    const double expected = speed_after_impact(mass, stiffness, range, damping, speed);
    const double coarse = bounce(damping, 40) - expected, fine = bounce(damping, 80) - expected;
    EXPECT_GT(expected, damping == 0.0 ? 0.999 * speed : 0.1 * speed);
    EXPECT_LT(expected, damping == 0.0 ? 1.001 * speed : 0.95 * speed);
    EXPECT_LE(std::abs(fine), 1e-3 * speed) << damping;
    EXPECT_LE(std::abs(fine), 0.4 * std::abs(coarse) + 1e-5 * speed) << damping;
  }
}

TEST(penalty_contact, refuses_what_it_has_not) {
  const auto message_of = [](const std::function<void(ContactOptions&)>& change) -> std::string {
    Scene scene = penalty_tower("symplectic_euler", true);
    change(scene.contact);
    try {
      make_solver(scene);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of([](ContactOptions&) {}), "");
  EXPECT_NE(message_of([](ContactOptions& contact) { contact.adaptive_stiffness = true; }).find("adaptive"),
            std::string::npos);
  EXPECT_NE(message_of([](ContactOptions& contact) {
              contact = {.adaptive_stiffness = true, .pairs = {{{"low", "middle"}}}};
              contact.pairs[0].law = ContactLawKind::penalty;
            }).find("a penalty needs its own barrier_stiffness"),
            std::string::npos);
  EXPECT_NE(message_of([](ContactOptions& contact) { contact.pairs[1].damping = 0.1; }).find("damping needs"),
            std::string::npos);
  EXPECT_NE(message_of([](ContactOptions& contact) { contact.damping = -0.1; }).find("contact_damping"),
            std::string::npos);
  EXPECT_NE(message_of([](ContactOptions& contact) {
              contact.law = ContactLawKind::barrier;
              contact.pairs.clear();
            }).find("damping of contact needs"),
            std::string::npos);
}

}  // namespace
}  // namespace diffsim::penalty_contact_test
