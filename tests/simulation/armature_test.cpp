// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Joints with an armature: motions compared with exact solutions, derivatives of rollouts, refused input.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_bodies.hpp"
#include "simulation/simulation_testing.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::armature_test {
namespace {

using testing_affine::affine_box;
using testing_affine::rigid;
using Vector = std::array<double, 3>;

DifferentiableSolver options_of(const std::string& integrator, double dt, const Vector& gravity = {0.0, 0.0, 0.0}) {
  DifferentiableSolver options{
      .dt = dt, .substeps = 1, .damping = 1.0, .gravity = gravity, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  return options;
}

constexpr double density = 1000.0;
const Vector wheel_size{0.2, 0.1, 0.05};                                           // m; the mass is 1 kg
constexpr double wheel_inertia = (0.2 * 0.2 + 0.1 * 0.1) / 12.0, armature = 5e-3;  // kg m²

/// Wheel whose axis through the centre of mass is a joint with the world, along z.
DifferentiableScene wheel(const std::string& integrator, double dt, const Vector& gravity = {0.0, 0.0, 0.0}) {
  const Joint hinge{.name = "hinge", .body = "wheel", .armature = armature};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "wheel", wheel_size, {0.0, 0.0, 0.0}));
  bodies.push_back({hinge.rotor(), rotor_mesh(MPI_COMM_WORLD)});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(density, "wheel/all")}, options_of(integrator, dt, gravity));
  scene.join(hinge);
  return scene;
}

/// Coordinate of joint `joint` after a rollout of `steps` steps.
double coordinate_after(DifferentiableScene& scene, int steps, std::size_t joint = 0) {
  State state = scene.initial_state();
  for (int n = 0; n < steps; ++n) scene.step(n, state);
  return scene.joint_coordinates(state).at(joint);
}

class Armature : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, Armature,
                         testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2",
                                         "generalised_alpha"),
                         [](const auto& test) { return test.param; });

/// A constant torque τ gives the acceleration α = τ/(I + a), with the inertia I of the wheel and the armature a. With
/// the step h, Euler's methods give q = α h² N (N + 1)/2 after N steps. The relative error of a step that turns by the
/// angle φ = h dq/dt ≤ 5e-4 is O(φ²) for explicit and O(φ³/(α h²)) = 3e-5 for implicit steps. The first step of bdf2 is
/// implicit Euler, which adds an error of α h² to q.
TEST_P(Armature, adds_to_the_inertia_of_a_wheel) {
  constexpr double alpha = 5.0, dt = 1e-3;
  constexpr int steps = 100;
  const std::string integrator = GetParam();
  DifferentiableScene scene = wheel(integrator, dt);
  scene.drive("hinge", {.torque = {alpha * (wheel_inertia + armature)}});
  const bool is_euler = integrator == "symplectic_euler" || integrator == "implicit_euler";
  const double expected = 0.5 * alpha * dt * dt * steps * (is_euler ? steps + 1.0 : steps);
  const double tolerance = integrator == "bdf2" ? 1e-3 : integrator == "implicit_euler" ? 1e-4 : 1e-6;
  EXPECT_NEAR(coordinate_after(scene, steps), expected, tolerance * expected);
}

TEST_P(Armature, gravity_does_not_turn_a_balanced_wheel) {
  DifferentiableScene scene = wheel(GetParam(), 1e-3, {3.0, -9.8, 1.0});
  EXPECT_NEAR(coordinate_after(scene, 20), 0.0, 1e-11);
}

TEST_P(Armature, a_turning_wheel_keeps_its_speed) {
  constexpr double speed = 0.5, dt = 1e-3;
  DifferentiableScene scene = wheel(GetParam(), dt);
  std::vector<double> velocity;
  add_rigid_velocity(*scene.mesh(), "wheel", {0.0, 0.0, 0.0}, {0.0, 0.0, speed}, velocity);
  scene.set_initial_velocity(velocity);
  scene.model().prepare();
  const double energy = 0.5 * (wheel_inertia + armature) * speed * speed;
  EXPECT_NEAR(scene.system().kinetic_energy(scene.initial_state()), energy, 1e-12 * energy);
  // Without the rotor's initial velocity, the speed would be 0.5 · I/(I + a) = 0.23 rad/s. Implicit Euler loses speed
  // at the relative rate (dt · speed)² per step.
  EXPECT_NEAR(coordinate_after(scene, 100), speed * dt * 100, 1e-4 * speed * dt * 100);
}

/// Two free bodies with the moments of inertia I and J about a common axis through both centres of mass. The relative
/// acceleration is τ/(µ + a) with µ = I J/(I + J): the armature acts on the relative rotation.
TEST(armature, acts_between_two_moving_bodies) {
  constexpr double alpha = 5.0, dt = 1e-3, J = (0.3 * 0.3 + 0.1 * 0.1) / 12.0 * 1.5;  // 1.5 kg
  constexpr int steps = 100;
  const Joint hinge{
      .name = "hinge", .body = "upper", .other = "lower", .point = {0.0, 0.0, 0.05}, .armature = armature};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "lower", {0.3, 0.1, 0.05}, {0.0, 0.0, 0.0}));
  bodies.push_back({hinge.rotor(), rotor_mesh(MPI_COMM_WORLD)});
  bodies.push_back(affine_box(MPI_COMM_WORLD, "upper", wheel_size, {0.0, 0.0, 0.1}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(density, "lower/all"), rigid(density, "upper/all")},
                            options_of("velocity_verlet", dt));
  scene.join(hinge);
  const double mu = wheel_inertia * J / (wheel_inertia + J);
  scene.drive("hinge", {.torque = {alpha * (mu + armature)}});
  const double expected = 0.5 * alpha * dt * dt * steps * steps;
  EXPECT_NEAR(coordinate_after(scene, steps), expected, 1e-6 * expected);
}

TEST(armature, adds_to_the_mass_of_a_cart) {
  constexpr double dt = 1e-3, force = 3.0, rotor = 2.0;  // N, kg; the cart has 1 kg
  constexpr int steps = 100;
  const Joint rail{.name = "rail",
                   .kind = JointKind::prismatic,
                   .body = "cart",
                   .axis = {0.3, -1.0, 0.5},
                   .coordinate = 0.2,
                   .armature = rotor};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "cart", wheel_size, {0.0, 0.0, 0.0}));
  bodies.push_back({rail.rotor(), rotor_mesh(MPI_COMM_WORLD)});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(density, "cart/all")}, options_of("velocity_verlet", dt));
  scene.join(rail);
  scene.drive("rail", {.torque = {force}});
  const double moved = 0.5 * force / (1.0 + rotor) * (dt * steps) * (dt * steps);
  EXPECT_NEAR(coordinate_after(scene, steps), 0.2 + moved, 1e-10);
}

/// The rotor begins at the angle of the initial positions, so the first step changes nothing.
TEST(armature, the_rotor_begins_at_the_initial_coordinate) {
  DifferentiableScene scene = wheel("velocity_verlet", 1e-3);
  const TetrahedralMesh& mesh = *scene.mesh();
  std::vector<double> displacement(3 * static_cast<std::size_t>(mesh.num_owned_vertices()), 0.0);
  const double c = std::cos(0.3), s = std::sin(0.3);
  for (const int v : mesh.region("wheel/all").vertices) {
    if (v >= mesh.num_owned_vertices()) continue;
    const std::size_t i = 3 * static_cast<std::size_t>(v);
    const double x = mesh.rest_positions()[i], y = mesh.rest_positions()[i + 1];
    displacement[i] = c * x - s * y - x;
    displacement[i + 1] = s * x + c * y - y;
  }
  scene.set_initial_displacement(displacement);
  EXPECT_NEAR(scene.joint_coordinates(scene.initial_state()).at(0), 0.3, 1e-14);
  EXPECT_NEAR(coordinate_after(scene, 5), 0.3, 1e-12);
}

TEST(armature, contact_does_not_act_on_rotors) {
  DifferentiableScene scene = wheel("velocity_verlet", 1e-3);
  ContactOptions contact;
  contact.barrier_distance = 0.01;
  contact.barrier_stiffness = 1e4;
  // The rotor vector (1, 0, 0) m is beyond the plane x = 0.6 m, whose free side contains the wheel.
  contact.planes.push_back({.point = {0.6, 0.0, 0.0}, .normal = {-1.0, 0.0, 0.0}});
  scene.add_contact(contact);
  EXPECT_NO_THROW(scene.require_apart());
  EXPECT_EQ(scene.contact_forces(0, scene.initial_state()).size(), 1u);
  EXPECT_TRUE(scene.obstacle_bodies().empty());
}

// ---- derivatives ------------------------------------------------------------------------------------------------

/// Arm with three joints, all of which have an armature. The arm begins with a rotation about the axis of the shoulder.
DifferentiableScene arm(const std::string& integrator) {
  const Joint shoulder{.name = "shoulder", .body = "upper", .axis = {0.1, 0.2, 1.0}, .armature = 1e-2},
      elbow{.name = "elbow",
            .body = "lower",
            .other = "upper",
            .point = {0.3, 0.0, 0.0},
            .axis = {0.0, 0.3, 1.0},
            .armature = 3e-3},
      slide{.name = "slide",
            .kind = JointKind::prismatic,
            .body = "cart",
            .other = "lower",
            .point = {0.6, 0.0, 0.0},
            .axis = {1.0, 0.2, 0.0},
            .armature = 0.2};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "upper", {0.3, 0.04, 0.05}, {0.15, 0.0, 0.0}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "lower", {0.25, 0.03, 0.04}, {0.425, 0.0, 0.0}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "cart", {0.05, 0.06, 0.04}, {0.6, 0.0, 0.0}));
  for (const Joint& joint : {shoulder, elbow, slide}) bodies.push_back({joint.rotor(), rotor_mesh(MPI_COMM_WORLD)});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableSolver options = testing_gradient::constrained_options(integrator, 1e-3, 6e-3, 5);
  // The constraints make the linear systems ill-conditioned.
  options.implicit.linear.tolerance = std::max(options.implicit.linear.tolerance, 1e-12);
  DifferentiableScene scene(mesh, {rigid(900.0, "upper/all"), rigid(800.0, "lower/all"), rigid(1000.0, "cart/all")},
                            options);
  for (const Joint& joint : {shoulder, elbow, slide}) scene.join(joint);
  scene.drive("elbow", {.torque = {0.1}, .damping = 1e-3});
  scene.drive("slide", {.torque = {-0.5}});
  const double rate = 2.0 / std::hypot(0.1, 0.2, 1.0);  // rad/s, per component of the axis
  const Vector w{0.1 * rate, 0.2 * rate, rate};
  std::vector<double> velocity;
  for (const auto& [body, x] : {std::pair{"upper", 0.15}, std::pair{"lower", 0.425}, std::pair{"cart", 0.6}})
    add_rigid_velocity(*mesh, body, {0.0, w[2] * x, -w[1] * x}, w, velocity);
  scene.set_initial_velocity(velocity);
  return scene;
}

const std::vector<std::string> names{
    "density",           "gravity", "joint_armature:shoulder", "joint_armature:elbow", "joint_armature:slide",
    "joint_torque:elbow"};

TEST_P(Armature, derivatives_pass_the_check) {
  DifferentiableScene scene = arm(GetParam());
  testing_simulation::expect_checked(scene, {"cart/all", {0.5, 0.3, 0.1}, 6},
                                     testing_simulation::unknowns_of(names, {}));
}

TEST_P(Armature, products_with_the_hessian) {
  DifferentiableScene scene = arm(GetParam());
  testing_simulation::expect_hessian(scene, 4, {"cart/all", {0.5, 0.3, 0.1}, 4},
                                     testing_simulation::unknowns_of(names, {}));
}

// ---- refusals ---------------------------------------------------------------------------------------------------

TEST(armature, values_and_joints_that_are_not_possible_are_refused) {
  const auto refused = [](const Joint& joint, const std::string& says) {
    DifferentiableScene scene = wheel("velocity_verlet", 1e-3);
    testing_simulation::expect_refused([&] { scene.join(joint); }, {"joint 'other': " + says});
  };
  refused({.name = "other", .body = "wheel", .armature = -1.0}, "the armature -1 is not positive");
  refused({.name = "other", .kind = JointKind::spherical, .body = "wheel", .armature = 1.0},
          "only revolute and prismatic joints can have an armature");
  refused({.name = "other", .body = "wheel", .armature = 1.0}, "the mesh has no rotor 'other.rotor'");
  DifferentiableScene scene = wheel("velocity_verlet", 1e-3);
  scene.parameters().at("joint_armature:hinge").field.fill(0.0);
  testing_simulation::expect_refused([&] { scene.model().prepare(); }, {"joint_armature:hinge: 0 is not positive"});
}

}  // namespace
}  // namespace diffsim::armature_test
