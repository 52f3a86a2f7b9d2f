// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Initial coordinates and rates of joints as unknowns.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "diffsim/mesh/construction.hpp"
#include "inverse/hessian_check.hpp"
#include "inverse/parametrisation.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/affine_bodies.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::joint_start_test {
namespace {

using testing_affine::affine_box;

/// An arm of three bodies with revolute and prismatic joints, whose first joint is given from the world's side, and a
/// gear that follows the elbow.
DifferentiableScene make_arm(MPI_Comm comm, const std::string& integrator = "velocity_verlet", double armature = 0.0) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "upper", {0.3, 0.04, 0.05}, {0.0, -0.02, -0.025}));
  bodies.push_back(affine_box(comm, "lower", {0.2, 0.03, 0.04}, {0.3, -0.015, -0.02}));
  bodies.push_back(affine_box(comm, "slider", {0.1, 0.02, 0.03}, {0.45, 0.02, 0.01}));
  bodies.push_back(affine_box(comm, "gear", {0.05, 0.05, 0.02}, {0.2, 0.05, 0.05}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableScene scene(mesh, {testing_affine::rigid(800.0)},
                            {.dt = 0.01, .substeps = 2, .damping = 1.0, .integrator = integrator_named(integrator)});
  scene.join({"shoulder", JointKind::revolute, "upper", "", {0.0, 0.0, 0.0}, {0.1, 0.2, 1.0}});
  scene.join({.name = "elbow",
              .kind = JointKind::revolute,
              .body = "lower",
              .other = "upper",
              .point = {0.3, 0.0, 0.0},
              .axis = {-0.2, 0.1, 1.0},
              .coordinate = 0.4,
              .armature = armature});
  scene.join({.name = "rail",
              .kind = JointKind::prismatic,
              .body = "lower",  // reversed: the slider moves although it is `other`
              .other = "slider",
              .point = {0.45, 0.02, 0.01},
              .axis = {1.0, 0.3, 0.0}});
  scene.join({.name = "cog",
              .kind = JointKind::revolute,
              .body = "gear",
              .other = "upper",
              .point = {0.22, 0.07, 0.06},
              .axis = {0.0, 1.0, 0.2},
              .follows = "elbow",
              .ratio = -0.5});
  return scene;
}

const std::vector<std::string> all{"rail", "shoulder", "elbow"};

Unknown coordinates_of(DifferentiableScene& scene, const std::vector<std::string>& names = all) {
  return initial_coordinates(*scene.mesh(), scene.system().joints(), names, scene.initial_state());
}
Unknown rates_of(DifferentiableScene& scene, const std::vector<std::string>& names = all) {
  return initial_rates(*scene.mesh(), scene.system().joints(), names, scene.initial_state());
}

/// Returns the state to which the values q of the unknown lead.
State state_at(DifferentiableScene& scene, const Unknown& unknown, const std::vector<double>& q, const char* field) {
  State state = scene.initial_state();
  std::vector<double> values = state[field].to_host();
  unknown.entry_map->set(q, values);
  state[field].from_host(values);
  synchronise(state);
  return state;
}

TEST(joint_start, coordinates_are_those_of_the_joints) {
  for (const double ratio : {-0.5, 0.3}) {
    DifferentiableScene scene = make_arm(MPI_COMM_WORLD);
    scene.parameters().at("joint_ratio:cog").field.fill(ratio);
    const Unknown unknown = coordinates_of(scene);
    EXPECT_EQ(unknown.group_names, all);
    EXPECT_NEAR(unknown.start.at(0), 0.0, 1e-15);
    EXPECT_NEAR(unknown.start.at(2), 0.4, 1e-15);
    const std::vector<double> q{0.03, -0.7, 1.1};
    State state = state_at(scene, unknown, q, "positions");
    const std::vector<double> found = scene.joint_coordinates(state);  // shoulder, elbow, rail, cog
    EXPECT_NEAR(found.at(0), q[1], 1e-14);
    EXPECT_NEAR(found.at(1), q[2], 1e-14);
    EXPECT_NEAR(found.at(2), q[0], 1e-14);
    EXPECT_NEAR(found.at(3), ratio * (q[2] - 0.4), 1e-14);
    // The constraints hold: a step without gravity changes nothing.
    scene.parameters().at("gravity").field.fill(0.0);
    const std::vector<double> before = state["positions"].to_host();
    scene.step(0, state);
    const std::vector<double> after = state["positions"].to_host();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-13);
  }
}

TEST(joint_start, rates_are_those_of_the_joints) {
  DifferentiableScene scene = make_arm(MPI_COMM_WORLD);
  scene.parameters().at("gravity").field.fill(0.0);
  const Unknown unknown = rates_of(scene);
  for (const double rate : unknown.start) EXPECT_EQ(rate, 0.0);
  const std::vector<double> rates{0.2, -0.3, 0.5};
  State state = state_at(scene, unknown, rates, "velocities");
  scene.set_initial_velocity([&] {
    std::vector<double> v = state["velocities"].to_host();
    v.resize(3 * static_cast<std::size_t>(scene.mesh()->num_owned_vertices()));
    return v;
  }());
  const Unknown again = rates_of(scene);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(again.start.at(k), rates[k], 1e-14);
  const std::vector<double> v = state["velocities"].to_host(),
                            same = state_at(scene, again, again.start, "velocities")["velocities"].to_host();
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(same[i], v[i], 1e-15);
  // Along the velocities, the coordinates change by the rates, and all other constraints hold to first order.
  const double h = 1e-6;
  State moved = scene.initial_state();
  axpy(h, state["velocities"], moved["positions"]);
  synchronise(moved);
  const std::vector<double> found = scene.joint_coordinates(moved);
  EXPECT_NEAR(found.at(0), h * rates[1], 1e-11);
  EXPECT_NEAR(found.at(1) - 0.4, h * rates[2], 1e-11);
  EXPECT_NEAR(found.at(2), h * rates[0], 1e-11);
  EXPECT_NEAR(found.at(3), -0.5 * h * rates[2], 1e-11);
}

/// Compares the derivatives of the map with fourth-order differences.
TEST(joint_start, map_has_exact_derivatives) {
  DifferentiableScene scene = make_arm(MPI_COMM_SELF);
  const Unknown unknown = coordinates_of(scene);
  const EntryMap& map = *unknown.entry_map;
  const std::vector<double> q{0.03, -0.7, 1.1}, dq{0.4, 1.2, -0.9};
  const std::vector<double> base = scene.initial_state()["positions"].to_host();
  std::vector<double> w(base.size()), dw(base.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = std::sin(1.0 + 1.7 * static_cast<double>(i));
    dw[i] = std::cos(0.3 * static_cast<double>(i));
  }
  const auto at = [&](double t) {
    std::vector<double> moved = q;
    for (std::size_t k = 0; k < q.size(); ++k) moved[k] += t * dq[k];
    return moved;
  };
  const double h = 1e-3;
  const auto difference = [&](const auto& value, std::size_t i) {
    return (8.0 * (value(h)[i] - value(-h)[i]) - value(2.0 * h)[i] + value(-2.0 * h)[i]) / (12.0 * h);
  };
  const auto positions = [&](double t) {
    std::vector<double> p = base;
    map.set(at(t), p);
    return p;
  };
  std::vector<double> dp(base.size(), 0.0);
  map.tangent(q, dq, dp);
  double product = 0.0, dual = 0.0;
  for (std::size_t i = 0; i < dp.size(); ++i) {
    EXPECT_NEAR(dp[i], difference(positions, i), 1e-11);
    product += w[i] * dp[i];
  }
  const std::vector<double> bar = map.adjoint(q, w), change = map.adjoint_tangent(q, dq, w, dw);
  for (std::size_t k = 0; k < q.size(); ++k) dual += bar[k] * dq[k];
  EXPECT_NEAR(dual, product, 1e-14);
  const auto adjoints = [&](double t) {
    std::vector<double> moved = w;
    for (std::size_t i = 0; i < w.size(); ++i) moved[i] += t * dw[i];
    return map.adjoint(at(t), moved);
  };
  for (std::size_t k = 0; k < q.size(); ++k) EXPECT_NEAR(change[k], difference(adjoints, k), 1e-10);
}

class JointStart : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(joint_start, JointStart, testing::Values("velocity_verlet", "bdf2", "generalised_alpha"));

TEST_P(JointStart, gradients_and_products_of_rollouts_are_exact) {
  for (const bool of_rates : {false, true}) {
    SCOPED_TRACE(of_rates);
    DifferentiableScene scene = make_arm(MPI_COMM_WORLD, GetParam());
    Unknown unknown = of_rates ? rates_of(scene) : coordinates_of(scene);
    unknown.label = "start";
    unknown.start = {0.02, -0.5, 0.9};
    SumLoss loss;
    loss.add(std::make_unique<TargetPositionLoss>(*scene.mesh(), scene.mesh()->region("slider/all"),
                                                  std::array<double, 3>{0.2, 0.3, -0.1}, 6));
    MemoryStore store;
    InverseProblem problem(
        scene.model(), scene.initial_state(), 6, loss, {unknown},
        [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
    GradientCheckOptions options;
    options.dot_product_tolerance = 1e-10;
    for (const UnknownCheck& check : check_gradient(problem, problem.start(), options)) {
      EXPECT_LE(check.dot_product_error, options.dot_product_tolerance);
      EXPECT_TRUE(check.passed) << check.name << ": " << check.slope;
    }
    HessianCheckOptions second;
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1) second.differences = false;
    const HessianCheck result = check_hessian(problem, problem.start(), second);
    EXPECT_LE(result.symmetry, 1e-10);
    EXPECT_TRUE(ranks > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
  }
}

TEST(joint_start, refusals) {
  using testing_simulation::expect_refused;
  DifferentiableScene scene = make_arm(MPI_COMM_WORLD);
  expect_refused([&] { coordinates_of(scene, {"knee"}); }, {"joint 'knee' does not exist"});
  expect_refused([&] { coordinates_of(scene, {"elbow", "elbow"}); }, {"joint 'elbow' is listed twice"});
  expect_refused([&] { coordinates_of(scene, {"cog"}); }, {"joint 'cog' follows joint 'elbow'"});
  DifferentiableScene moving = make_arm(MPI_COMM_WORLD);
  moving.set_initial_velocity(
      std::vector<double>(3 * static_cast<std::size_t>(moving.mesh()->num_owned_vertices()), 1.0));
  expect_refused([&] { coordinates_of(moving); }, {"zero initial velocities"});
  EXPECT_NO_THROW(rates_of(moving));
  DifferentiableScene displaced = make_arm(MPI_COMM_WORLD);
  displaced.set_initial_displacement(
      std::vector<double>(3 * static_cast<std::size_t>(displaced.mesh()->num_owned_vertices()), 0.1));
  expect_refused([&] { coordinates_of(displaced); }, {"bodies at their rest positions"});
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*scene.mesh(), scene.mesh()->region("slider/all"),
                                                std::array<double, 3>{}, 2));
  MemoryStore store;
  const auto problem_of = [&](const std::vector<Unknown>& unknowns) {
    InverseProblem(
        scene.model(), scene.initial_state(), 2, loss, unknowns,
        [](int n) { return std::make_unique<UniformSchedule>(n, 2); }, store);
  };
  for (const Unknown& other : {coordinates_of(scene, {"elbow"}), rates_of(scene), Unknown{"initial_velocities"},
                               Unknown{"joint_axis:elbow"}, Unknown{"joint_ratio:cog"}})
    expect_refused([&] { problem_of({coordinates_of(scene, {"shoulder"}), other}); }, {"cannot both be unknowns"});
  DifferentiableScene loop = make_arm(MPI_COMM_WORLD);
  loop.join({"tie", JointKind::spherical, "slider", "", {0.5, 0.03, 0.02}});
  expect_refused([&] { coordinates_of(loop, {"elbow"}); }, {"joint 'elbow' belongs to a closed loop"});
}

}  // namespace
}  // namespace diffsim::joint_start_test
