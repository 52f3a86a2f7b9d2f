// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Impacts of rigid and affine bodies on planes (contact law `impact`): motions and derivatives with known solutions,
// derivatives of rollouts, and refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_scenes.hpp"
#include "simulation/crate_and_slab.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::body_impact_test {
namespace {

using namespace testing_affine;

constexpr double g = 9.81;
using Vector = std::array<double, 3>;

/// Box above the plane y = 0, or above a plane with another normal.
struct Drop {
  Vector size{0.1, 0.06, 0.08}, centre{}, velocity{}, spin{}, normal{0.0, 1.0, 0.0};
  Vector axis{1.0, 0.0, 0.0};
  double angle = 0.0;
  Vector gravity{0.0, -g, 0.0};
  double restitution = 1.0, friction = 0.0;
};

DifferentiableScene make_drop(const Drop& of, const std::string& integrator, double dt) {
  auto mesh = std::make_shared<TetrahedralMesh>(
      MPI_COMM_WORLD,
      join_bodies(MPI_COMM_WORLD, {affine_box(MPI_COMM_WORLD, "box", of.size, of.centre, of.axis, of.angle)}));
  DifferentiableScene scene(
      mesh, {rigid(800.0, "box/all")},
      {.dt = dt, .substeps = 1, .damping = 1.0, .gravity = of.gravity, .integrator = integrator_named(integrator)});
  ContactOptions contact{.friction = of.friction, .law = ContactLawKind::impact, .restitution = of.restitution};
  contact.planes.push_back({.normal = of.normal, .label = "floor"});
  scene.add_contact(contact);
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "box", of.velocity, of.spin, velocity);
  scene.set_initial_velocity(velocity);
  return scene;
}

/// Mean of the values at the corners, which is the value at the centre of mass.
Vector mean_of(const Field& field) {
  Vector sum{};
  const std::vector<double> values = field.to_host();
  for (std::size_t i = 0; i < 12 && i < values.size(); ++i) sum[i % 3] += 0.25 * values[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// A box that lands with all four lower corners at once bounces as a point mass: height 0.947915 m, ∂y/∂h₀ = 0.543558,
/// the numbers of the bounce of the acceptance list.
TEST(body_impact, a_flat_landing_is_the_bounce_of_a_point) {
  DifferentiableScene scene = make_drop({.centre = {0.0, 1.03, 0.0}}, "velocity_verlet", 0.8 / 37);
  TargetPositionLoss loss(*scene.mesh(), scene.mesh()->region("box/all"), {0.0, -0.022085, 0.0}, 37);
  DifferentiableSimulator simulator(scene);
  simulator.require_gradient({"obstacle_position:floor", "restitution"});
  simulator.rollout(37, 10, loss);
  const double height = mean_of(simulator.state()["positions"])[1] - 0.03;
  simulator.backward();
  EXPECT_NEAR(height, 0.947915, 1e-6);
  const double slope = height + 0.03 + 0.022085;  // of the loss with respect to the height
  const double by_floor = simulator.gradient("obstacle_position:floor").to_host().at(1) / slope;
  EXPECT_NEAR(by_floor, 1.0 - 0.543558, 1e-6);
  const double t = std::sqrt(2.0 / g);
  EXPECT_NEAR(simulator.gradient("restitution").to_host().at(0) / slope, (0.8 - t) * g * t, 1e-9);
}

/// A box hits the plane with one corner, at r from its centre: the impulse per mass is
/// j = (1 + e) |u·n|/(1 + (r × n)·I⁻¹ (r × n)), and the energy of a box with e = 1 remains.
TEST(body_impact, a_corner_changes_velocity_and_spin) {
  for (const double e : {1.0, 0.4}) {
    Drop drop{.centre = {0.0, 0.5, 0.0}, .velocity = {0.3, -2.0, 0.1}, .axis = {1.0, 0.2, 0.7}, .angle = 0.5};
    drop.gravity = {};
    drop.restitution = e;
    DifferentiableScene scene = make_drop(drop, "velocity_verlet", 1e-3);
    State state = scene.initial_state();
    scene.model().prepare();
    const double before = scene.system().kinetic_energy(state);
    Vector lowest{0.0, 1.0, 0.0};
    for (const Vector& x : scene.mesh()->bodies()[0].affine->surface.vertices)
      if (x[1] < lowest[1]) lowest = x;
    for (int n = 0; n < 230; ++n) scene.step(n, state);
    const Vector v = mean_of(state["velocities"]);
    // In the axes of the box, the inertia per mass is diagonal. r is a corner of the box: its components are half
    // sides.
    const double length = std::sqrt(1.0 + 0.04 + 0.49), c = std::cos(0.5), s = std::sin(0.5);
    const Vector a{1.0 / length, 0.2 / length, 0.7 / length};
    const Vector r{lowest[0], lowest[1] - 0.5, lowest[2]}, arm{-r[2], 0.0, r[0]};  // r × n
    const Vector side{a[1] * arm[2] - a[2] * arm[1], a[2] * arm[0] - a[0] * arm[2], a[0] * arm[1] - a[1] * arm[0]};
    const double along = a[0] * arm[0] + a[1] * arm[1] + a[2] * arm[2];
    double sum = 1.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double in_box = c * arm[i] - s * side[i] + (1.0 - c) * along * a[i];  // rotated back
      const double p = drop.size[(i + 1) % 3], q = drop.size[(i + 2) % 3];
      sum += in_box * in_box * 12.0 / (p * p + q * q);
    }
    EXPECT_NEAR(v[1], -2.0 + (1.0 + e) * 2.0 / sum, 1e-10);
    EXPECT_NEAR(v[0], 0.3, 1e-12);
    EXPECT_NEAR(v[2], 0.1, 1e-12);
    if (e == 1.0) {
      EXPECT_NEAR(scene.system().kinetic_energy(state), before, 1e-9 * before);
    }
  }
}

/// A box slides on a slope with tan θ = 0.5: with µ = 0.51 the box stands, with µ = 0.4 the box has the acceleration
/// g (sin θ - µ cos θ), and the derivative of its path with respect to µ is -½ g cos θ t².
TEST(body_impact, a_slope_holds_or_accelerates_a_box) {
  const double angle = std::atan(0.5);
  Drop drop{.centre = {0.0, 0.03, 0.0}, .gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0}};
  drop.restitution = 0.0;
  drop.friction = 0.51;
  DifferentiableScene standing = make_drop(drop, "velocity_verlet", 2e-3);
  State state = standing.initial_state();
  for (int n = 0; n < 200; ++n) standing.step(n, state);
  EXPECT_NEAR(mean_of(state["positions"])[0], 0.0, 1e-12);
  EXPECT_NEAR(mean_of(state["positions"])[1], 0.03, 1e-12);
  drop.friction = 0.4;
  DifferentiableScene sliding = make_drop(drop, "velocity_verlet", 2e-3);
  TargetPositionLoss loss(*sliding.mesh(), sliding.mesh()->region("box/all"), {-1.0, 0.0, 0.0}, 200);
  DifferentiableSimulator simulator(sliding);
  simulator.require_gradient({"friction"});
  simulator.rollout(200, 20, loss);
  simulator.backward();
  const double a = g * (std::sin(angle) - 0.4 * std::cos(angle)), t = 0.4;
  const double path = mean_of(simulator.state()["positions"])[0];
  EXPECT_NEAR(path, 0.5 * a * t * t, 1e-2 * a * t * t);
  EXPECT_NEAR(simulator.gradient("friction").to_host().at(0) / (1.0 + path), -0.5 * g * std::cos(angle) * t * t,
              1e-2 * g * t * t);
}

// ---- derivatives ------------------------------------------------------------------------------------------------

struct Case {
  std::string integrator;
  bool is_rigid;
};

/// Point of the plane with the given normal from which the surface of an affine body has the distance `gap` in the rest
/// configuration.
Vector point_below(const TetrahedralMesh& mesh, std::size_t body, const Vector& normal, double gap) {
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  double height = 1e300;
  for (const Vector& x : mesh.bodies()[body].affine->surface.vertices)
    height = std::min(height, (normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2]) / length);
  const double factor = (height - gap) / length;
  return {factor * normal[0], factor * normal[1], factor * normal[2]};
}

/// The crate falls on a moving and turning floor, and the slab against a wall. The pair of the slab and the wall has a
/// law of its own.
DifferentiableScene make_scene(const Case& which, MPI_Comm comm) {
  auto mesh = crate_and_slab(comm);
  DifferentiableScene scene(mesh,
                            {which.is_rigid ? rigid(900.0, "crate/all") : stiff(6e4, 900.0, "crate/all"), rubber(),
                             which.is_rigid ? rigid(700.0, "slab/all") : stiff(5e4, 700.0, "slab/all")},
                            testing_gradient::tight_options(which.integrator, 1e-3, 6e-3, 5));
  set_in_motion(scene);
  const Vector floor{0.02, 1.0, 0.03}, wall{1.0, 0.02, 0.05};
  ContactOptions contact{.friction = 0.3, .thickness = 2e-4, .law = ContactLawKind::impact, .restitution = 0.6};
  contact.self = false;
  contact.planes = {{.point = point_below(*mesh, 0, floor, 3e-4),
                     .normal = floor,
                     .velocity = {0.05, 0.02, 0.01},
                     .label = "floor",
                     .rotation = {{0.1, 0.0, 1.0}, {0.05, 0.0, 0.05}, 0.4},
                     .thickness = 1e-4},
                    {.point = point_below(*mesh, 2, wall, 2e-4), .normal = wall, .label = "wall"}};
  contact.pairs = {{.between = {"slab", "wall"}, .friction = 0.15, .restitution = 0.4},
                   {.between = {"crate", "slab"}, .touch = false},
                   {.between = {"crate", "soft"}, .touch = false},
                   {.between = {"slab", "soft"}, .touch = false}};
  contact.scales = {{"slab", 1.0001, std::array{0.03, 0.09, 0.0}}, {"crate", 1.0002}};
  scene.add_contact(contact);
  scene.require_apart();
  return scene;
}

const std::vector<std::string> smooth_names{"restitution",
                                            "restitution:slab|wall",
                                            "friction",
                                            "friction:slab|wall",
                                            "thickness",
                                            "thickness:floor",
                                            "obstacle_position:floor",
                                            "obstacle_velocity:floor",
                                            "obstacle_angular_velocity:floor",
                                            "obstacle_position:wall",
                                            "gravity",
                                            "density",
                                            "initial_positions",
                                            "initial_velocities"};
std::vector<std::string> all_names() {
  std::vector<std::string> all = smooth_names;
  all.insert(all.end(), {"surface_scale:crate", "surface_scale:slab"});
  return all;
}

class BodyImpacts : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, BodyImpacts,
                         testing::Values(Case{"symplectic_euler", true}, Case{"velocity_verlet", true},
                                         Case{"velocity_verlet", false}, Case{"runge_kutta_4", false}),
                         [](const auto& which) {
                           return which.param.integrator + (which.param.is_rigid ? "_rigid" : "_affine");
                         });

TEST_P(BodyImpacts, gradients_have_the_slopes_that_differences_have) {
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_scene(GetParam(), comm); }, 4, all_names());
}

TEST_P(BodyImpacts, tangents_and_adjoints_agree) {
  DifferentiableScene scene = make_scene(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_derivatives(scene, 4, {{"all", {0.1, 0.3, -0.1}, 4}},
                                         testing_simulation::unknowns_of(all_names(), {}), {});
}

TEST_P(BodyImpacts, products_with_the_hessian) {
  for (const char* const region : {"crate/all", "slab/all"}) {
    DifferentiableScene scene = make_scene(GetParam(), MPI_COMM_WORLD);
    testing_simulation::expect_hessian(scene, 4, {region, {0.1, 0.3, -0.1}, 4},
                                       testing_simulation::unknowns_of(smooth_names, {}));
  }
}

/// Energy per mass of a free rigid body under gravity g along -y.
double energy_of(DifferentiableScene& scene, const State& state, double mass) {
  return scene.system().kinetic_energy(state) / mass + g * mean_of(state["positions"])[1];
}

/// A spinning box that bounces without loss and without friction keeps its energy. One corner at a time meets the
/// plane.
TEST(body_impact, a_spinning_box_keeps_its_energy) {
  Drop drop{.size = {0.016, 0.012, 0.02}, .centre = {0.0, 0.05, 0.0}, .spin = {40.0, -20.0, 30.0}};
  const double mass = 800.0 * 0.016 * 0.012 * 0.02;
  for (const int steps_per_second : {1000, 2000}) {
    DifferentiableScene scene = make_drop(drop, "velocity_verlet", 1.0 / steps_per_second);
    State state = scene.initial_state();
    scene.model().prepare();
    const double start = energy_of(scene, state, mass);
    double largest = 0.0, last = 0.0;
    int bounces = 0;
    for (int n = 0; n < steps_per_second / 4; ++n) {
      scene.step(n, state);
      const double speed = mean_of(state["velocities"])[1];
      bounces += speed > last;
      last = speed;
      largest = std::max(largest, std::abs(energy_of(scene, state, mass) / start - 1.0));
    }
    std::printf("spinning box, %d steps/s, %d bounces: relative error of the energy %.2g\n", steps_per_second, bounces,
                largest);
    EXPECT_GE(bounces, 2);
    EXPECT_LT(largest, 1e-12);
  }
}

/// A thin plate that lands with a small tilt and without restitution lies flat and stays so; the gradient is finite.
TEST(body_impact, a_thin_plate_rests) {
  Drop drop{.size = {0.1, 0.02, 0.1}, .centre = {0.0, 0.0101, 0.0}, .angle = 1e-4};
  drop.restitution = 0.0;
  drop.friction = 0.3;
  DifferentiableScene scene = make_drop(drop, "velocity_verlet", 5e-4);
  TargetPositionLoss loss(*scene.mesh(), scene.mesh()->region("box/all"), {0.0, 0.0, 0.0}, 1000);
  DifferentiableSimulator simulator(scene);
  simulator.require_gradient({"obstacle_position:floor"});
  simulator.rollout(1000, 100, loss);
  simulator.backward();
  const State& state = simulator.state();
  EXPECT_NEAR(mean_of(state["positions"])[1], 0.01, 1e-9);
  double tilt = 0.0, speed = 0.0;
  const std::vector<double> x = state["positions"].to_host(), v = state["velocities"].to_host();
  // The corners of the body come in two pairs of equal height above the plate's middle.
  std::vector<double> heights;
  for (std::size_t i = 1; i < 12 && i < x.size(); i += 3) heights.push_back(x[i]);
  std::sort(heights.begin(), heights.end());
  if (heights.size() == 4) tilt = std::max(heights[1] - heights[0], heights[3] - heights[2]);
  for (const double component : v) speed = std::max(speed, std::abs(component));
  EXPECT_LT(tilt, 1e-9);
  EXPECT_LT(speed, 1e-6);
  // The plate follows the plane.
  EXPECT_NEAR(simulator.gradient("obstacle_position:floor").to_host().at(1) / 0.01, 1.0, 1e-5);
}

/// A cube between two inclined planes comes to rest on both.
TEST(body_impact, a_cube_rests_between_two_planes) {
  Drop drop{.size = {0.1, 0.1, 0.1}, .centre = {0.0, 0.3, 0.0}, .normal = {1.0, 0.2, 0.0}};
  drop.restitution = 0.0;
  drop.friction = 0.3;
  auto mesh = std::make_shared<TetrahedralMesh>(
      MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, {affine_box(MPI_COMM_WORLD, "box", drop.size, drop.centre)}));
  DifferentiableSolver options{.dt = 5e-4, .substeps = 1, .damping = 1.0, .gravity = drop.gravity};
  options.integrator = Integrator::velocity_verlet;
  DifferentiableScene scene(mesh, {rigid(800.0, "box/all")}, options);
  ContactOptions contact{.friction = 0.3, .law = ContactLawKind::impact};
  contact.planes = {{.normal = {1.0, 0.2, 0.0}, .label = "left"}, {.normal = {-1.0, 0.2, 0.0}, .label = "right"}};
  scene.add_contact(contact);
  State state = scene.initial_state();
  for (int n = 0; n < 1500; ++n) scene.step(n, state);
  // Half of the side, (0.05, -0.05), is the lowest corner: 0.05 + 0.2 (y - 0.05) = 0.
  EXPECT_NEAR(mean_of(state["positions"])[1], 0.3, 1e-6);
  for (const double v : mean_of(state["velocities"])) EXPECT_NEAR(v, 0.0, 1e-6);
}

/// In a scene with rigid bodies, the vertices of a soft body have impacts, too.
TEST(body_impact, a_soft_body_beside_rigid_bodies_does_not_enter_a_plane) {
  auto mesh = crate_and_slab(MPI_COMM_WORLD);
  DifferentiableSolver options{.dt = 1e-3, .substeps = 10, .damping = 1.0};
  options.integrator = Integrator::velocity_verlet;
  DifferentiableScene scene(mesh, {rigid(900.0, "crate/all"), rubber(), rigid(700.0, "slab/all")}, options);
  ContactOptions contact{.law = ContactLawKind::impact, .restitution = 0.2};
  contact.self = false;
  contact.planes = {{.point = {0.0, 0.065, 0.0}, .label = "floor"}};  // 5 mm below the soft block
  contact.pairs = {{.between = {"crate", "floor"}, .touch = false},
                   {.between = {"slab", "floor"}, .touch = false},
                   {.between = {"crate", "slab"}, .touch = false},
                   {.between = {"crate", "soft"}, .touch = false},
                   {.between = {"slab", "soft"}, .touch = false}};
  scene.add_contact(contact);
  State state = scene.initial_state();
  const auto lowest_vertex = [&](const std::string& region) {
    const std::vector<double> x = state["positions"].to_host();
    double height = 1.0;
    for (const int v : mesh->region(region).vertices)
      if (v < mesh->num_owned_vertices()) height = std::min(height, x[3 * static_cast<std::size_t>(v) + 1]);
    MPI_Allreduce(MPI_IN_PLACE, &height, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return height;
  };
  double soft = 1.0;
  for (int n = 0; n < 60; ++n) {
    scene.step(n, state);
    soft = std::min(soft, lowest_vertex("soft/all"));
  }
  EXPECT_GE(soft, 0.065 - 1e-5);
  EXPECT_LT(soft, 0.0655);
  EXPECT_LT(lowest_vertex("crate/all"), 0.02);  // no law applies to the crate and the floor
}

/// Impacts keep the shape of a rigid body.
TEST(body_impact, a_rigid_body_stays_rigid) {
  const Drop drop{.centre = {0.0, 0.2, 0.0}, .spin = {3.0, -5.0, 9.0}, .restitution = 0.5, .friction = 0.4};
  DifferentiableScene scene = make_drop(drop, "velocity_verlet", 2e-3);
  State state = scene.initial_state();
  const std::vector<double> start = state["positions"].to_host();
  for (int n = 0; n < 600; ++n) scene.step(n, state);
  const std::vector<double> end = state["positions"].to_host();
  const auto length = [](const std::vector<double>& x, std::size_t i, std::size_t k) {
    return std::hypot(x[3 * i] - x[3 * k], x[3 * i + 1] - x[3 * k + 1], x[3 * i + 2] - x[3 * k + 2]);
  };
  for (std::size_t i = 0; 3 * i < start.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_NEAR(length(end, i, k), length(start, i, k), 1e-12);
  // The box lies flat on the plane: the height of its centre is half of a side.
  const double height = mean_of(state["positions"])[1];
  double off = 1.0;
  for (const double side : drop.size) off = std::min(off, std::abs(height - 0.5 * side));
  EXPECT_LT(off, 1e-6);
}

TEST(body_impact, refusals) {
  DifferentiableScene scene = make_drop({.centre = {0.0, 0.1, 0.0}}, "velocity_verlet", 1e-3);
  scene.join({.name = "hook", .kind = JointKind::spherical, .body = "box"});
  testing_simulation::expect_refused([&] { scene.model().prepare(); }, {"joint 'hook'", "impact", "body 'box'"});
  DifferentiableScene deep = make_drop({.centre = {0.0, 0.02, 0.0}}, "velocity_verlet", 1e-3);
  testing_simulation::expect_refused([&] { deep.require_apart(); },
                                     {"inside an obstacle at the start", "body 'box' and plane floor"});
}

}  // namespace
}  // namespace diffsim::body_impact_test
