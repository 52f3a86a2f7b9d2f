// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rigid bodies and joints compared with reference results. Runs on one rank.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diffsim/mesh/construction.hpp"
#include "max_or_nan.hpp"
#include "simulation/affine_scenes.hpp"

namespace diffsim::rigid_benchmarks_test {
namespace {

using namespace testing_affine;
DifferentiableSolver options_of(const std::string& integrator, double dt, const Vector& gravity) {
  return {.dt = dt, .substeps = 1, .damping = 1.0, .gravity = gravity, .integrator = integrator_named(integrator)};
}

/// Density of a box of the given size and mass.
double density_of(double mass, const Vector& size) { return mass / (size[0] * size[1] * size[2]); }

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// ---- free rotation ----------------------------------------------------------------------------------------------

/// Times, s, at which the y axis of a free rotating body with the principal moments of inertia 1, 2 and 3 kg m² is
/// normal to the angular momentum.
struct Flips {
  std::vector<double> times;
  double momentum_error = 0.0, energy_error = 0.0, strain = 0.0;  // largest, relative
};

Flips flips(double dt) {
  // A plate has these moments in the limit of zero thickness. The mass is 12 kg.
  const Vector size{std::sqrt(2.0), 1.0, 1e-3}, w{0.01, 1.0, 0.01};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "box", size, {0, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(density_of(12.0, size), "box/all")},
                            options_of("velocity_verlet", dt, {0, 0, 0}));
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "box", {0, 0, 0}, w, velocity);
  scene.set_initial_velocity(velocity);
  State state = scene.initial_state();
  const Motion start = motion_of(state, 12.0);
  const Vector L = start.angular_momentum;
  const double L_size = std::sqrt(dot(L, L));
  const auto height = [&](const Motion& m) {  // the y axis is along x_0 + x_1 - x_2 - x_3, where x_k are the corners
    double sum = 0.0;
    for (std::size_t c = 0; c < 3; ++c) sum += (m.edges[0][c] - m.edges[1][c] - m.edges[2][c]) * L[c];
    return sum;
  };
  scene.step(0, state);
  const double energy = scene.system().kinetic_energy(scene.initial_state());
  Flips found;
  double before = height(start);
  const auto lengths = [](const Motion& m) {
    return std::array{dot(m.edges[0], m.edges[0]), dot(m.edges[1], m.edges[2])};
  };
  const auto rest = lengths(start);
  state = scene.initial_state();
  for (int n = 0; n * dt < 31.0; ++n) {
    scene.step(n, state);
    const Motion now = motion_of(state, 12.0);
    const double h = height(now);
    // The height is nearly linear in time near zero, so linear interpolation has an error of O(dt²).
    if ((before > 0.0) != (h > 0.0)) found.times.push_back(dt * (n + before / (before - h)));
    before = h;
    for (std::size_t c = 0; c < 3; ++c)
      found.momentum_error = std::max(found.momentum_error, std::abs(now.angular_momentum[c] - L[c]) / L_size);
    found.energy_error = std::max(found.energy_error, std::abs(scene.system().kinetic_energy(state) / energy - 1.0));
    for (std::size_t k = 0; k < 2; ++k)
      found.strain = std::max(found.strain, std::abs(lengths(now)[k] - rest[k]) / rest[0]);
  }
  return found;
}

TEST(rigid_benchmarks, free_rotation_about_the_middle_axis_flips) {
  const Flips coarse = flips(0.04), fine = flips(0.02);
  ASSERT_EQ(coarse.times.size(), 2u);
  ASSERT_EQ(fine.times.size(), 2u);
  const double expected[2] = {10.91691, 30.46978};
  for (std::size_t k = 0; k < 2; ++k) {
    print("time of flip, dt 0.04 s", coarse.times[k], expected[k]);
    print("time of flip, dt 0.02 s", fine.times[k], expected[k]);
    const double order = std::log2((coarse.times[k] - expected[k]) / (fine.times[k] - expected[k]));
    EXPECT_NEAR(order, 2.0, 0.15);
    EXPECT_NEAR((4.0 * fine.times[k] - coarse.times[k]) / 3.0, expected[k], 1e-4 * expected[k]);
  }
  for (const Flips& run : {coarse, fine}) {
    EXPECT_LT(run.momentum_error, 1e-10);
    EXPECT_LT(run.strain, 1e-13);
    EXPECT_LT(run.energy_error, 1e-12);  // the discrete free rotation conserves the energy exactly
  }
}

// ---- pendulums --------------------------------------------------------------------------------------------------

/// Angles, rad, of the two rods of a double pendulum from the vertical, at t = 1 s. The massless rods of 1 m carry
/// point masses of 1 kg, approximated by cubes, and start at rest at 90° from the vertical.
std::array<double, 2> double_pendulum(const std::string& integrator, double dt) {
  const Vector size{1e-3, 1e-3, 1e-3};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "first", size, {1, 0, 0}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "second", size, {2, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  const double density = density_of(1.0, size);
  DifferentiableScene scene(mesh, {rigid(density, "first/all"), rigid(density, "second/all")},
                            options_of(integrator, dt, {0, -9.81, 0}));
  scene.join({.name = "shoulder", .body = "first"});
  scene.join({.name = "elbow", .body = "second", .other = "first", .point = {1, 0, 0}});
  State state = scene.initial_state();
  const int steps = static_cast<int>(std::lround(1.0 / dt));
  for (int n = 0; n < steps; ++n) scene.step(n, state);
  const Vector a = motion_of(state, 1.0, 0).centre, b = motion_of(state, 1.0, 1).centre;
  return {std::atan2(a[0], -a[1]), std::atan2(b[0] - a[0], -(b[1] - a[1]))};
}

TEST(rigid_benchmarks, double_pendulum) {
  const double expected[2] = {-0.6250877, -1.0345851};
  for (const std::string integrator :
       {"velocity_verlet", "bdf2", "generalised_alpha", "symplectic_euler", "implicit_euler"}) {
    const double order = integrator.ends_with("_euler") ? 1.0 : 2.0;
    const auto coarse = double_pendulum(integrator, 2e-3), fine = double_pendulum(integrator, 1e-3);
    for (std::size_t k = 0; k < 2; ++k) {
      print((integrator + ", dt 1 ms").c_str(), fine[k], expected[k]);
      const double ratio = std::exp2(order);
      EXPECT_NEAR(std::log2((coarse[k] - expected[k]) / (fine[k] - expected[k])), order, 0.1) << integrator;
      EXPECT_NEAR((ratio * fine[k] - coarse[k]) / (ratio - 1.0), expected[k], order > 1.0 ? 2e-6 : 2e-3) << integrator;
    }
  }
}

/// Chain in space: a post that turns about a vertical axis, an arm on a hinge, a sleeve that slides on the arm, a plate
/// on a universal joint, and a puck that slides on the plate.
struct Chain {
  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableScene> scene;
};

Chain chain(double dt) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "post", {0.1, 0.5, 0.1}, {0, 0.25, 0}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "arm", {0.6, 0.06, 0.05}, {0.3, 0.5, 0.1}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "sleeve", {0.1, 0.1, 0.12}, {0.4, 0.5, 0.1}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "plate", {0.2, 0.02, 0.1}, {0.7, 0.5, 0.1}));
  bodies.push_back(affine_box(MPI_COMM_WORLD, "puck", {0.1, 0.1, 0.1}, {1.0, 0.5, 0.1}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  std::vector<DifferentiableMaterial> materials;
  for (const MeshBody& body : mesh->bodies()) materials.push_back(rigid(800.0, body.name + "/all"));
  auto scene =
      std::make_unique<DifferentiableScene>(mesh, materials, options_of("velocity_verlet", dt, {0.3, -9.81, 0.2}));
  scene->join({"floor", JointKind::revolute, "post", "", {0, 0, 0}, {0, 1, 0}});
  scene->join({"hinge", JointKind::revolute, "arm", "post", {0, 0.5, 0.05}, {0, 0, 1}});
  scene->join({"slide", JointKind::prismatic, "sleeve", "arm", {0.4, 0.5, 0.1}, {1, 0, 0}});
  scene->join({"cross", JointKind::universal, "plate", "arm", {0.6, 0.5, 0.1}, {0, 1, 0}});
  scene->join({"table", JointKind::planar, "puck", "plate", {0.9, 0.5, 0.1}, {0, 1, 0}});
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "sleeve", {0.3, 0, 0}, {0, 0, 0}, velocity);
  scene->set_initial_velocity(velocity);
  return {mesh, std::move(scene)};
}

/// Position of the material point of a body that is at `rest` at the start.
Vector point_of(const TetrahedralMesh& mesh, const State& state, std::size_t body, const Vector& rest) {
  const std::vector<double> x = state["positions"].to_host();
  // Local vertices may be in any order, so corners are matched by their vertex numbers.
  const std::vector<double>& X = mesh.rest_positions();
  const std::vector<std::int64_t> numbers = vertex_numbers(mesh);
  double from[12], to[12];
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    const auto number = static_cast<std::size_t>(numbers[v]);
    if (number / 4 != body) continue;
    std::copy_n(&X[3 * v], 3, from + 3 * (number % 4));
    std::copy_n(&x[3 * v], 3, to + 3 * (number % 4));
  }
  AffineBody one;
  one.surface.vertices.push_back(rest);
  const std::vector<double> place = AffineMap(one, from, 0, 1)(to);
  return {place[0], place[1], place[2]};
}

/// Largest violation of the joints of the chain, m.
double violation(const Chain& c, const State& state) {
  const auto point = [&](std::size_t body, const Vector& rest) { return point_of(*c.mesh, state, body, rest); };
  const auto apart = [](const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); };
  double most = apart(point(0, {0, 0, 0}), {0, 0, 0});
  most = max_or_nan(most, apart(point(0, {0, 1, 0}), {0, 1, 0}));
  most = max_or_nan(most, apart(point(1, {0, 0.5, 0.05}), point(0, {0, 0.5, 0.05})));
  most = max_or_nan(most, apart(point(1, {0, 0.5, 1.05}), point(0, {0, 0.5, 1.05})));
  most = max_or_nan(most, apart(point(3, {0.6, 0.5, 0.1}), point(1, {0.6, 0.5, 0.1})));
  const auto along = [&](std::size_t body, const Vector& from, const Vector& to) {
    const Vector a = point(body, from), b = point(body, to);
    return Vector{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  };
  const Vector x = along(1, {0, 0, 0}, {1, 0, 0}), z = along(1, {0, 0, 0}, {0, 0, 1});
  const Vector sleeve_y = along(2, {0, 0, 0}, {0, 1, 0}), sleeve_x = along(2, {0, 0, 0}, {1, 0, 0});
  const Vector arm = point(1, {0.4, 0.5, 0.1}), sleeve = point(2, {0.4, 0.5, 0.1});
  const Vector offset{sleeve[0] - arm[0], sleeve[1] - arm[1], sleeve[2] - arm[2]};
  for (const double angle :
       {dot(sleeve_x, z), dot(sleeve_y, x), dot(sleeve_y, z), dot(offset, z), dot(offset, sleeve_y)})
    most = max_or_nan(most, std::abs(angle));
  const Vector plate_y = along(3, {0, 0, 0}, {0, 1, 0}), puck_y = along(4, {0, 0, 0}, {0, 1, 0});
  most = max_or_nan(most, apart(plate_y, puck_y));
  const Vector plate = point(3, {0.9, 0.5, 0.1}), puck = point(4, {0.9, 0.5, 0.1});
  return max_or_nan(most, std::abs(dot(plate_y, {puck[0] - plate[0], puck[1] - plate[1], puck[2] - plate[2]})));
}

TEST(rigid_benchmarks, joints_hold_and_energy_is_bounded) {
  double errors[2];
  for (const int k : {0, 1}) {
    const double dt = k == 0 ? 4e-4 : 2e-4;
    const Chain c = chain(dt);
    State state = c.scene->initial_state();
    c.scene->model().prepare();
    const double start = c.scene->system().kinetic_energy(state) + c.scene->system().potential_energy(state);
    double most = 0.0, error = 0.0, kinetic = 0.0;
    const int steps = k == 0 ? 5000 : 10000;
    for (int n = 0; n < steps; ++n) {
      c.scene->step(n, state);
      const double now = c.scene->system().kinetic_energy(state);
      kinetic = std::max(kinetic, now);
      error = max_or_nan(error, std::abs(now + c.scene->system().potential_energy(state, n + 1) - start));
      if (n % 10 == 9) most = max_or_nan(most, violation(c, state));
    }
    print("violation of joints, m or rad", most, 0.0);
    print("error of the energy / kinetic energy", error / kinetic, 0.0);
    EXPECT_LT(most, 1e-10);
    EXPECT_GT(kinetic, 1.0);
    errors[k] = error / kinetic;
  }
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.3);
}

TEST(rigid_benchmarks, a_driven_joint_is_a_damped_oscillator) {
  // I q'' = τ + k (target - q) - c q' from rest, for a bar on a hinge and for the same bar on a rail (I = mass).
  for (const JointKind kind : {JointKind::revolute, JointKind::prismatic}) {
    const Vector size{0.4, 0.1, 0.1};
    std::vector<NamedMesh> bodies;
    bodies.push_back(affine_box(MPI_COMM_WORLD, "bar", size, {0.2, 0, 0}));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    const double mass = 2.0, torque = 0.3, k = 4.0, c = 0.15, target = 0.2;
    const double inertia = kind == JointKind::revolute ? mass * (0.17 / 12.0 + 0.04) : mass;
    DifferentiableScene scene(mesh, {rigid(density_of(mass, size), "bar/all")},
                              options_of("velocity_verlet", 1e-3, {0, 0, 0}));
    scene.join({.name = "joint", .kind = kind, .body = "bar", .axis = {0, 0, 1}, .coordinate = 0.05});
    scene.drive("joint", {.torque = {torque}, .target = {target}, .stiffness = k, .damping = c});
    State state = scene.initial_state();
    EXPECT_NEAR(scene.joint_coordinates(state).at(0), 0.05, 1e-15);
    const int steps = 700;
    for (int n = 0; n < steps; ++n) scene.step(n, state);
    const double t = steps * 1e-3, decay = c / (2.0 * inertia), w = std::sqrt(k / inertia - decay * decay);
    const double rest = target + torque / k, start = 0.05 - rest;
    const double expected = rest + start * std::exp(-decay * t) * (std::cos(w * t) + decay / w * std::sin(w * t));
    print("coordinate of a driven joint", scene.joint_coordinates(state).at(0), expected);
    EXPECT_NEAR(scene.joint_coordinates(state).at(0), expected, 1e-5);
  }
}

/// Bar of 2 kg on a hinge or on a rail, for implicit steps.
DifferentiableScene bar_on_a_joint(JointKind kind, const JointDrive& drive, double dt, double& inertia) {
  const Vector size{0.4, 0.1, 0.1};
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "bar", size, {0.2, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  inertia = kind == JointKind::revolute ? 2.0 * (0.17 / 12.0 + 0.04) : 2.0;
  DifferentiableScene scene(mesh, {rigid(density_of(2.0, size), "bar/all")}, options_of("bdf2", dt, {0, 0, 0}));
  scene.join({.name = "joint", .kind = kind, .body = "bar", .axis = {0, 0, 1}});
  scene.drive("joint", drive);
  return scene;
}

TEST(rigid_benchmarks, friction_stops_a_joint) {
  for (const JointKind kind : {JointKind::revolute, JointKind::prismatic}) {
    // With the torque τ from rest and then -F alone: q' = (τ - F) t/I, then q' falls at the rate F/I. Both phases and
    // the coordinate at rest follow; the friction velocity is small against q'.
    double inertia = 0.0;
    const double torque = 1.0, friction = 0.4, dt = 5e-4;
    const int pushed = 200, steps = 800;
    std::vector<double> torques(steps, 0.0);
    std::fill(torques.begin(), torques.begin() + pushed, torque);
    DifferentiableScene scene =
        bar_on_a_joint(kind, {.torque = torques, .friction = friction, .friction_velocity = 1e-4}, dt, inertia);
    State state = scene.initial_state();
    for (int n = 0; n < steps; ++n) scene.step(n, state);
    const double t = pushed * dt, rate = (torque - friction) * t / inertia;
    const double expected = 0.5 * rate * t + 0.5 * rate * rate * inertia / friction;
    const double found = scene.joint_coordinates(state).at(0);
    print("coordinate at which friction stops a joint", found, expected);
    EXPECT_NEAR(found, expected, 0.01 * expected);  // error O(dt), from the first step of BDF2
    scene.step(steps - 1, state);
    EXPECT_NEAR(scene.joint_coordinates(state).at(0), found, 1e-8);
  }
}

TEST(rigid_benchmarks, friction_below_its_velocity_balances_a_torque) {
  // F s(y) = τ with s(y) = 2y - y²: a torque of 3/4 F turns the joint at half of the friction velocity.
  double inertia = 0.0;
  DifferentiableScene scene =
      bar_on_a_joint(JointKind::revolute, {.torque = {-0.3}, .friction = 0.4, .friction_velocity = 0.5}, 2e-3, inertia);
  State state = scene.initial_state();
  double before = 0.0, now = 0.0;
  for (int n = 0; n < 2000; ++n) {
    before = now;
    scene.step(n, state);
    now = scene.joint_coordinates(state).at(0);
  }
  EXPECT_NEAR((now - before) / 2e-3, -0.25, 1e-6);
}

TEST(rigid_benchmarks, a_limit_balances_a_torque) {
  for (const double torque : {3.0, -3.0}) {
    double inertia = 0.0;
    const double stiffness = 20.0, distance = 0.05, upper = 0.1, lower = -0.2;
    DifferentiableScene scene = bar_on_a_joint(JointKind::revolute,
                                               {.torque = {torque},
                                                .damping = 2.0,
                                                .limits = {lower, upper},
                                                .limit_stiffness = stiffness,
                                                .limit_distance = distance},
                                               2e-3, inertia);
    State state = scene.initial_state();
    for (int n = 0; n < 1500; ++n) scene.step(n, state);
    // Distance d at which κ ((D - d)²/d - 2 (D - d) ln(d/D)) = |τ|, by bisection.
    double near = 1e-6, far = distance;
    for (int k = 0; k < 100; ++k) {
      const double d = 0.5 * (near + far), missing = distance - d;
      const bool stronger = stiffness * (missing * missing / d - 2.0 * missing * std::log(d / distance)) > 3.0;
      (stronger ? near : far) = d;
    }
    const double q = scene.joint_coordinates(state).at(0), d = torque > 0.0 ? upper - q : q - lower;
    print("distance from the limit", d, near);
    EXPECT_NEAR(d, near, 1e-6 * near);
  }
}

TEST(rigid_benchmarks, a_servo_turns_the_shorter_way) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "bar", {0.4, 0.1, 0.1}, {0.2, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(500.0, "bar/all")}, options_of("velocity_verlet", 1e-3, {0, 0, 0}));
  scene.join({.name = "joint", .body = "bar", .coordinate = 3.0});
  scene.drive("joint", {.target = {-3.0}, .stiffness = 1.0});
  State state = scene.initial_state();
  for (int n = 0; n < 20; ++n) scene.step(n, state);
  EXPECT_GT(scene.joint_coordinates(state).at(0), 3.0);  // 0.28 rad ahead, not 6 rad back
}

// ---- on a slope -------------------------------------------------------------------------------------------------

DifferentiableScene rigid_on_slope(NamedMesh body, const Slope& slope) {
  const DifferentiableMaterial material = rigid(1000.0);
  return on_slope(std::move(body), material, {.dt = 1e-3, .substeps = 20, .integrator = Integrator::velocity_verlet},
                  slope);
}

TEST(rigid_benchmarks, a_block_holds_and_slides_on_a_slope) {
  // Friction tilts the block, which then rocks on the barrier. Damping ends this motion within the first 0.2 s.
  const auto velocities = [](double friction) {
    DifferentiableScene scene =
        on_slope(block(), rigid(1000.0, "block/all"),
                 {.dt = 1e-3, .substeps = 20, .integrator = Integrator::symplectic_euler}, {0.5, friction, {}});
    std::vector<double> damping(500, 1.0);
    std::fill(damping.begin(), damping.begin() + 200, 0.99);
    scene.set_control("damping", damping);
    return run(scene, 500).v;
  };
  EXPECT_LT(velocities(0.51).back(), 1e-3);  // friction keeps the velocity below ε_v
  const double angle = std::atan(0.5), expected = 9.81 * (std::sin(angle) - 0.48 * std::cos(angle));
  const std::vector<double> v = velocities(0.48);
  const double acceleration = (v[500] - v[250]) / 0.25;
  print("slides on a slope, m/s²", acceleration, expected);
  EXPECT_NEAR(acceleration, expected, 0.01 * expected);
}

TEST(rigid_benchmarks, a_block_stops) {
  DifferentiableScene scene = rigid_on_slope(block(), {0.0, 0.4, {1.0, 0.0, 0.0}});
  expect_stop(scene, 0.4, 400);
}

TEST(rigid_benchmarks, a_ball_rolls_down_a_slope) {
  DifferentiableScene scene = rigid_on_slope(ball(), {0.3, 0.5, {}});
  expect_rolling(scene, 0.3, 500);
}

TEST(rigid_benchmarks, a_sliding_ball_begins_to_roll) {
  DifferentiableScene scene = rigid_on_slope(ball(), {0.0, 0.2, {1.0, 0.0, 0.0}});
  expect_slide_and_roll(scene, 0.2, 250);
}

// ---- impact -----------------------------------------------------------------------------------------------------

TEST(rigid_benchmarks, equal_bodies_exchange_their_velocities) {
  expect_exchange(rigid(1000.0), {.substeps = 1, .integrator = Integrator::velocity_verlet}, {400, 800});
}

TEST(rigid_benchmarks, a_body_bounces) { expect_bounce(rigid(1000.0)); }

}  // namespace
}  // namespace diffsim::rigid_benchmarks_test
