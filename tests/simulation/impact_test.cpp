// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Impacts of vertices on planes (contact law `impact`): motions and derivatives of single points with known solutions,
// derivatives of bodies, and refusals.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "core/file_order.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/contact_bodies.hpp"
#include "simulation/contact_second_order.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::impact_test {
namespace {

using namespace testing_contact;

constexpr double g = 9.81;

/// Flight of a point mass.
struct Flight {
  std::array<double, 3> start{}, velocity{};
  std::array<double, 3> gravity{0.0, -g, 0.0};
  double restitution = 1.0, friction = 0.0, end = 0.8;
  std::array<double, 3> floor_velocity{};
  std::array<double, 3> wall{};  // normal of a second plane through the origin; a zero vector: no plane
};

/// End of a flight, and derivatives of component `axis` of the last position.
struct Found {
  std::array<double, 3> place{}, velocity{}, by_start{}, by_velocity{};
  double by_restitution = 0.0, by_friction = 0.0, by_floor = 0.0;
};

/// Computes the flight of a point above the plane y = 0. A second point, to which a spring without stiffness leads, is
/// far above the plane.
Found fly(const Flight& of, const std::string& integrator, int steps, std::size_t axis) {
  const std::array<double, 3>& x = of.start;
  auto mesh = std::make_shared<TetrahedralMesh>(
      MPI_COMM_WORLD, testing_spring::segments(MPI_COMM_WORLD, {x, {x[0], x[1] + 1e3, x[2]}}, {{0, 1}}));
  DifferentiableScene solver(mesh, {{"springs", {{"spring_stiffness", 1e-12}, {"point_mass", 2.0}}, "all"}},
                             {.dt = of.end / steps,
                              .substeps = 1,
                              .damping = 1.0,
                              .gravity = of.gravity,
                              .integrator = integrator_named(integrator)});
  ContactOptions contact{.friction = of.friction, .law = ContactLawKind::impact, .restitution = of.restitution};
  contact.planes.push_back({.velocity = of.floor_velocity, .label = "floor"});
  if (of.wall != std::array<double, 3>{}) contact.planes.push_back({.normal = of.wall, .label = "wall"});
  solver.add_contact(contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), of.velocity.begin(), of.velocity.end());
  solver.set_initial_velocity(velocity);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"restitution", "friction", "obstacle_position:floor"});
  const auto values = [&](const Field& field) {
    std::array<double, 3> sums{};
    const std::vector<double> all = field.to_host();
    for (std::size_t v = 0; v < static_cast<std::size_t>(mesh->num_owned_vertices()); ++v)
      if (mesh->vertex_order().file_index()[v] == 0)
        for (std::size_t c = 0; c < 3; ++c) sums[c] = all[3 * v + c];
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  };
  SumLoss nothing;
  simulator.rollout(steps, steps, nothing);
  Found found;
  found.place = values(simulator.state()["positions"]);
  found.velocity = values(simulator.state()["velocities"]);
  mesh->define_region("point", BoxShape{{-1e2, -1e2, -1e2}, {1e2, 1e2, 1e2}});
  std::array<double, 3> target = found.place;
  target[axis] -= 1.0;  // the loss ½ |x - target|² has the slope 1 with respect to x along `axis`
  TargetPositionLoss loss(*mesh, mesh->region("point"), target, steps);
  simulator.rollout(steps, steps, loss);
  simulator.backward();
  found.by_start = values(simulator.initial_gradient()["positions"]);
  found.by_velocity = values(simulator.initial_gradient()["velocities"]);
  found.by_restitution = simulator.gradient("restitution").to_host().at(0);
  found.by_friction = simulator.gradient("friction").to_host().at(0);
  found.by_floor = simulator.gradient("obstacle_position:floor").to_host().at(1);
  return found;
}

/// Height at the end of a flight with one bounce on a plane at height 0, from rest at the height h.
double bounced(double h, double e, double end) {
  const double t = std::sqrt(2.0 * h / g), left = end - t;
  return left * (e * g * t - 0.5 * g * left);
}

/// The numbers of the bounce of the acceptance list: height 0.947915 m, ∂y/∂h₀ = 0.543558.
TEST(impact, velocity_verlet_computes_a_bounce_exactly) {
  for (const double e : {1.0, 0.6}) {
    const Found found = fly({.start = {0.0, 1.0, 0.0}, .restitution = e}, "velocity_verlet", 37, 1);
    EXPECT_NEAR(found.place[1], bounced(1.0, e, 0.8), 1e-13);
    const double step = 1e-4, t = std::sqrt(2.0 / g), left = 0.8 - t;
    const auto at = [&](double h) { return bounced(h, e, 0.8); };
    const double slope =
        (8.0 * (at(1.0 + step) - at(1.0 - step)) - at(1.0 + 2.0 * step) + at(1.0 - 2.0 * step)) / (12.0 * step);
    EXPECT_NEAR(found.by_start[1], slope, 1e-10);
    EXPECT_NEAR(found.by_floor, 1.0 - slope, 1e-10);
    EXPECT_NEAR(found.by_restitution, left * g * t, 1e-12);
    if (e == 1.0) {
      EXPECT_NEAR(found.place[1], 0.947915, 1e-6);
      EXPECT_NEAR(found.by_start[1], 0.543558, 1e-6);
    }
  }
}

TEST(impact, all_explicit_rules_converge_to_a_bounce_and_its_derivative) {
  for (const auto& [integrator, order] :
       {std::pair("symplectic_euler", 1), std::pair("explicit_euler", 1), std::pair("velocity_verlet", 9),
        std::pair("runge_kutta_2", 9), std::pair("runge_kutta_4", 9)}) {
    SCOPED_TRACE(integrator);
    const Flight flight{.start = {0.0, 1.0, 0.0}};
    double last = 0.0, last_slope = 0.0;
    for (const int steps : {100, 200, 400}) {
      const Found found = fly(flight, integrator, steps, 1);
      const double error = std::abs(found.place[1] - bounced(1.0, 1.0, 0.8)),
                   error_of_slope = std::abs(found.by_start[1] - 0.5435579);
      if (order == 9) {  // constant acceleration: no error
        EXPECT_LT(error, 1e-12);
        EXPECT_LT(error_of_slope, 1e-6);
      } else if (last > 0.0) {
        EXPECT_LT(error, 0.75 * last);
        EXPECT_LT(error_of_slope, 0.75 * last_slope);
      }
      last = error;
      last_slope = error_of_slope;
    }
    EXPECT_LT(last, 0.02);
    EXPECT_LT(last_slope, 0.02);
  }
}

/// The drop of `simulation.bounce`, in which a barrier with d̂ = 4 mm and 40,000 substeps has an error of 1.2 % of
/// ∂z/∂h₀.
TEST(impact, derivatives_of_a_drop_have_smaller_errors_than_with_a_barrier) {
  constexpr double gravity = 9.8, h0 = 0.1, v0 = -1.0;
  const double w = std::sqrt(v0 * v0 + 2.0 * gravity * h0), t = (v0 + w) / gravity, left = 0.3 - t;
  const double by_time = -w + gravity * left;  // ∂z/∂t at fixed speed; t: time of the impact
  const double by_height = left * gravity / w + by_time / w,
               by_velocity = left * v0 / w + by_time * (1.0 + v0 / w) / gravity;
  for (const auto& [integrator, steps, limit] :
       {std::tuple("symplectic_euler", 100, 0.02), std::tuple("symplectic_euler", 1000, 2e-3),
        std::tuple("velocity_verlet", 10, 1e-12)}) {
    const Found found =
        fly({.start = {0.0, h0, 0.0}, .velocity = {0.0, v0, 0.0}, .gravity = {0.0, -gravity, 0.0}, .end = 0.3},
            integrator, steps, 1);
    const double error = std::abs(found.by_start[1] / by_height - 1.0),
                 error_by_velocity = std::abs(found.by_velocity[1] / by_velocity - 1.0);
    std::printf("%s, %d substeps: error of ∂z/∂h₀ %.2g, of ∂z/∂v₀ %.2g\n", integrator, steps, error, error_by_velocity);
    EXPECT_LT(error, limit);
    EXPECT_LT(error_by_velocity, limit);
  }
}

/// A point that slides on the plane stops after v₀²/(2 µ g); the derivatives are v₀/(µ g) and -v₀²/(2 µ² g).
TEST(impact, a_sliding_point_stops_where_friction_says) {
  const double v0 = 2.0, mu = 0.5, path = v0 * v0 / (2.0 * mu * g);
  for (const auto& [integrator, tolerance] :
       {std::pair("velocity_verlet", 1e-3), std::pair("symplectic_euler", 5e-3)}) {
    SCOPED_TRACE(integrator);
    const Found found =
        fly({.velocity = {v0, 0.0, 0.0}, .restitution = 0.0, .friction = mu, .end = 1.0}, integrator, 1000, 0);
    EXPECT_NEAR(found.place[0], path, tolerance * path);
    EXPECT_NEAR(found.place[1], 0.0, 1e-12);
    EXPECT_EQ(found.velocity[0], 0.0);
    EXPECT_NEAR(found.by_velocity[0], v0 / (mu * g), 5e-3 * v0 / (mu * g));
    EXPECT_NEAR(found.by_friction, -path / mu, 5e-3 * path / mu);
    EXPECT_EQ(found.by_start[0], 1.0);
  }
}

/// On a slope with tan θ = 0.5, a point holds with µ = 0.51, and accelerates with g (sin θ - µ cos θ) with µ = 0.4.
TEST(impact, a_slope_holds_or_accelerates_a_point) {
  const double angle = std::atan(0.5);
  Flight slope{.gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0}, .restitution = 0.0, .friction = 0.51};
  EXPECT_NEAR(fly(slope, "symplectic_euler", 200, 0).place[0], 0.0, 1e-12);
  slope.friction = 0.4;
  const double a = g * (std::sin(angle) - 0.4 * std::cos(angle));
  const Found found = fly(slope, "velocity_verlet", 200, 0);
  EXPECT_NEAR(found.velocity[0], a * 0.8, 1e-10);
  EXPECT_NEAR(found.place[0], 0.5 * a * 0.64, 1e-2 * a);
  EXPECT_NEAR(found.by_friction, -0.5 * g * std::cos(angle) * 0.64, 1e-2 * g);
}

/// A plane that rises hits a point at rest: the point has the velocity (1 + e) V afterwards.
TEST(impact, a_moving_plane_throws_a_point) {
  const Found found =
      fly({.start = {0.0, 0.31, 0.0}, .gravity = {}, .restitution = 0.5, .end = 1.0, .floor_velocity = {0.0, 2.0, 0.0}},
          "symplectic_euler", 77, 1);
  EXPECT_NEAR(found.velocity[1], 3.0, 1e-12);
  EXPECT_NEAR(found.place[1], 0.31 + 3.0 * (1.0 - 0.155), 1e-12);
  EXPECT_NEAR(found.by_start[1], 1.0 - 1.5, 1e-12);
}

/// A point meets the floor and then an inclined wall in one substep.
TEST(impact, two_impacts_in_one_substep_have_the_derivatives_of_differences) {
  const Flight flight{.start = {0.02, 0.01, 0.0},
                      .velocity = {-1.0, -1.5, 0.3},
                      .restitution = 0.7,
                      .friction = 0.2,
                      .end = 0.2,
                      .wall = {1.0, 0.3, 0.1}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Found found = fly(flight, "velocity_verlet", 4, axis);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto at = [&](double offset) {
        Flight other = flight;
        other.start[c] += offset;
        return fly(other, "velocity_verlet", 4, axis).place[axis];
      };
      const double h = 1e-4;
      const double slope = (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
      EXPECT_NEAR(found.by_start[c], slope, 1e-8);
    }
  }
}

/// Two blocks that fall into a corner of a floor, which moves and turns, and a wall. The pair of the low block and the
/// floor has a law of its own.
Scene corner(const std::string& integrator) {
  Scene scene;
  scene.integrator = integrator;
  scene.dt = 4e-4;
  scene.gravity = {0.3, -9.8, 0.2};
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.1, {-1.2, -2.1, 1.4}, "low"},
                  {{0.1, 0.05, 0.1}, {1, 1, 1}, {-0.006, 0.2, 0.017}, 0.4, {-2.1, 0.1, 1.9}, "high"}};
  ContactOptions& contact = scene.contact;
  contact = {.friction = 0.3, .thickness = 2e-3, .law = ContactLawKind::impact, .restitution = 0.6};
  contact.planes = {{.point = {0.0, -2.3e-3, 0.0},
                     .normal = {0.02, 1.0, 0.0},
                     .velocity = {0.05, 0.1, 0.0},
                     .label = "floor",
                     .rotation = {{0.1, 0.0, 1.0}, {0.05, 0.0, 0.05}, 0.4},
                     .thickness = 1e-3},
                    {.point = {-0.0031, 0.0, 0.0}, .normal = {1.0, 0.02, 0.05}, .label = "wall"}};
  contact.pairs = {{.between = {"low", "floor"}, .friction = 0.15, .restitution = 0.4},
                   {.between = {"low", "high"}, .touch = false}};
  return scene;
}

const std::vector<std::string> names{"restitution",
                                     "restitution:low|floor",
                                     "friction",
                                     "friction:low|floor",
                                     "thickness",
                                     "thickness:floor",
                                     "obstacle_position:floor",
                                     "obstacle_velocity:floor",
                                     "obstacle_angular_velocity:floor",
                                     "obstacle_position:wall",
                                     "gravity",
                                     "youngs_modulus",
                                     "density",
                                     "initial_positions",
                                     "initial_velocities"};

class Impacts : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(impact, Impacts,
                         testing::Values("symplectic_euler", "velocity_verlet", "explicit_euler", "runge_kutta_2",
                                         "runge_kutta_4"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(Impacts, gradients_have_the_slopes_that_differences_have) {
  const Scene scene = corner(GetParam());
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 6, names);
}

TEST_P(Impacts, tangents_and_adjoints_agree) {
  DifferentiableScene solver = make_solver(corner(GetParam()));
  testing_simulation::expect_derivatives(solver, 6, {{"all", {0.1, 0.3, -0.1}, 6}},
                                         testing_simulation::unknowns_of(names, {}), {});
}

TEST(impact, hessian_is_symmetric_and_expands_to_third_order) {
  std::vector<std::string> smooth = names;
  for (const char* const integrator : {"symplectic_euler", "velocity_verlet"}) {
    SCOPED_TRACE(integrator);
    expect_second_order(corner(integrator), smooth);
  }
}

/// Substeps between checkpoints are computed again; the gradient is the same.
TEST(impact, checkpoints_do_not_change_the_gradient) {
  std::vector<std::vector<double>> gradients;
  for (const int interval : {1, 20}) {
    Scene scene = corner("symplectic_euler");
    DifferentiableScene solver = make_solver(scene);
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.1, 0.3, -0.1}, 20);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({"restitution"});
    simulator.rollout(20, interval, loss);
    simulator.backward();
    gradients.push_back(simulator.initial_gradient()["positions"].to_host());
    gradients.push_back(simulator.gradient("restitution").to_host());
  }
  EXPECT_EQ(gradients[0], gradients[2]);
  EXPECT_EQ(gradients[1], gradients[3]);
  EXPECT_NE(gradients[1].at(0), 0.0);
}

/// Substeps of one step and single steps compute the same motion and the same derivatives.
TEST_P(Impacts, substeps_are_steps) {
  std::vector<std::vector<double>> found;
  for (const int substeps : {1, 4}) {
    Scene scene = corner(GetParam());
    scene.dt *= substeps;
    scene.substeps = substeps;
    const int steps = 12 / substeps;
    DifferentiableScene solver = make_solver(scene);
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.1, 0.3, -0.1}, steps);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({"restitution"});
    simulator.rollout(steps, steps, loss);
    found.push_back(simulator.state()["positions"].to_host());
    simulator.backward();
    found.push_back(simulator.initial_gradient()["velocities"].to_host());
    found.push_back(simulator.gradient("restitution").to_host());
  }
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < found[k].size(); ++i)
      EXPECT_NEAR(found[k][i], found[k + 3][i], 1e-12 * std::abs(found[k][i]) + 1e-15);
}

TEST(impact, a_fixed_component_does_not_move) {
  Scene scene = corner("symplectic_euler");
  scene.blocks.pop_back();
  scene.contact.pairs.clear();
  DifferentiableScene solver = make_solver(scene);
  solver.fix("all", {false, true, false});
  State state = solver.initial_state();
  const std::vector<double> before = state["positions"].to_host();
  for (int n = 0; n < 20; ++n) solver.step(n, state);
  const std::vector<double> after = state["positions"].to_host();
  for (std::size_t v = 0; v < static_cast<std::size_t>(solver.mesh()->num_owned_vertices()); ++v)
    EXPECT_EQ(before[3 * v + 1], after[3 * v + 1]);
}

/// A spring that a floor throws upwards must not pass through the block above it, which has a barrier.
TEST(impact, contact_sees_the_motion_after_an_impact) {
  for (const char* const integrator : {"velocity_verlet", "symplectic_euler"}) {
    SCOPED_TRACE(integrator);
    std::vector<NamedMesh> bodies;
    bodies.push_back(
        {"block", testing_mesh::box_body(MPI_COMM_WORLD, {"block", {0.1, 0.05, 0.1}, {1, 1, 1}, {0.0, 0.0015, 0.0}})});
    bodies.push_back(
        {"spring", testing_spring::segments(MPI_COMM_WORLD, {{0.02, 5e-4, 0.03}, {0.05, 5e-4, 0.04}}, {{0, 1}})});
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    const DifferentiableMaterial rubber{
        "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "block/all"};
    const DifferentiableMaterial springs{"springs", {{"spring_stiffness", 1.0}, {"point_mass", 2.0}}, "spring/all"};
    DifferentiableSolver options{.dt = 1e-3, .substeps = 1, .damping = 1.0, .gravity = {0.0, 0.0, 0.0}};
    options.integrator = integrator_named(integrator);
    DifferentiableScene solver(mesh, {rubber, springs}, options);
    ContactOptions contact{.barrier_distance = 1e-4, .barrier_stiffness = 1.0};
    contact.planes.push_back({.label = "floor"});
    contact.pairs = {{.between = {"spring", "floor"}, .law = ContactLawKind::impact, .restitution = 1.0}};
    solver.add_contact(contact);
    std::vector<double> velocity(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
    for (const int v : mesh->region("spring/all").vertices)
      if (v < mesh->num_owned_vertices()) velocity[3 * static_cast<std::size_t>(v) + 1] = -2.5;
    solver.set_initial_velocity(velocity);
    solver.require_apart();
    State state = solver.initial_state();
    testing_simulation::expect_refused([&] { solver.step(0, state); }, {"would be passed through", "block"});
  }
}

TEST(impact, refusals) {
  using testing_simulation::expect_refused;
  Scene inside = corner("symplectic_euler");
  inside.contact.planes[0].point[1] = 0.02;
  DifferentiableScene deep = make_solver(inside);
  expect_refused([&] { deep.require_apart(); }, {"inside an obstacle at the start", "plane floor", "move them apart"});
  EXPECT_TRUE(deep.has_contact());
  EXPECT_FALSE(deep.has_contact_forces());
  const auto refuse = [](const Scene& scene, const std::vector<std::string>& words) {
    expect_refused(
        [&] {
          DifferentiableScene solver = make_solver(scene);
          solver.model().prepare();
        },
        words);
  };
  Scene scene = corner("implicit_euler");
  refuse(scene, {"impact", "explicit integrator", "barrier or penalty"});
  scene = corner("symplectic_euler");
  scene.contact.pairs.pop_back();
  refuse(scene, {"contact of low with high", "vertices and planes only", "touch: false"});
  scene = corner("symplectic_euler");
  scene.contact.restitution = 1.2;
  refuse(scene, {"restitution", "1.2"});
  scene = corner("symplectic_euler");
  scene.contact.pairs[0].law = ContactLawKind::penalty;
  refuse(scene, {"contact of low with floor", "restitution needs the contact law impact"});
  scene = corner("symplectic_euler");
  scene.contact.pairs[0].barrier_distance = 1e-3;
  refuse(scene, {"contact of low with floor", "barrier_distance", "no effect"});
  scene = corner("symplectic_euler");
  scene.contact.law = ContactLawKind::barrier;
  scene.contact.pairs.clear();
  refuse(scene, {"restitution of contact needs the contact law impact"});
}

}  // namespace
}  // namespace diffsim::impact_test
