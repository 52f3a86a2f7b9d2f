// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Ratios of joints that follow joints as parameters: rollouts, gradients, second derivatives, several turns, an inverse
// problem, refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_scenes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::joint_ratios_test {
namespace {

using namespace testing_affine;

/// Joint of a train that follows another joint.
struct Follower {
  const char *name, *leader;
  JointKind kind;
  double ratio;
};
/// Followers of all kinds: a rotation that follows a rotation with a fraction of integers and with another ratio, a
/// screw, a translation that follows a translation, and a rack.
const std::vector<Follower> followers{{"gear", "drive", JointKind::revolute, -0.7},
                                      {"wheel", "gear", JointKind::revolute, 1.2345678},
                                      {"screw", "wheel", JointKind::prismatic, 0.11},
                                      {"slide", "screw", JointKind::prismatic, -1.4},
                                      {"pinion", "slide", JointKind::revolute, 6.5}};

std::string parameter_of(const std::string& joint) { return "joint_ratio:" + joint; }
std::vector<std::string> names_of(const std::vector<Follower>& joints) {
  std::vector<std::string> names;
  for (const Follower& joint : joints) names.push_back(parameter_of(joint.name));
  return names;
}
const std::vector<std::string> all_names = names_of(followers);

/// Rates of the coordinates of the drive and of the followers for the rate `rate` of the drive.
std::vector<double> rates_of(const std::vector<Follower>& joints, double rate) {
  std::vector<double> rates{rate};
  for (const Follower& joint : joints) {
    std::size_t leader = 0;
    for (std::size_t k = 0; k < joints.size(); ++k)
      if (std::string(joints[k].name) == joint.leader) leader = k + 1;
    rates.push_back(joint.ratio * rates[leader]);
  }
  return rates;
}

/// Scene of bodies side by side, each connected with the world by one joint: the joint `drive` with the initial rate
/// `rate` (rad/s) and a constant torque (N m), then the followers.
DifferentiableScene make_train(MPI_Comm comm, const DifferentiableSolver& options, const std::vector<Follower>& joints,
                               double rate, double torque) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "body0", {0.2, 0.1, 0.05}, {0.02, 0.0, 0.0}));
  for (std::size_t k = 1; k <= joints.size(); ++k)
    bodies.push_back(
        affine_box(comm, "body" + std::to_string(k), {0.2, 0.1, 0.05}, {0.5 * static_cast<double>(k), 0.03, 0.01}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(900.0)}, options);
  const auto axis_of = [](JointKind kind) {
    return kind == JointKind::revolute ? std::array<double, 3>{0.1, -0.2, 1.0} : std::array<double, 3>{1.0, 0.2, 0.1};
  };
  const std::vector<double> rates = rates_of(joints, rate);
  std::vector<double> velocity;
  for (std::size_t k = 0; k <= joints.size(); ++k) {
    const JointKind kind = k == 0 ? JointKind::revolute : joints[k - 1].kind;
    const std::string body = "body" + std::to_string(k);
    const std::array<double, 3> point{0.5 * static_cast<double>(k), 0.0, 0.0}, axis = axis_of(kind);
    Joint joint{.name = "drive", .kind = kind, .body = body, .point = point, .axis = axis};
    if (k > 0) {
      joint.name = joints[k - 1].name;
      joint.follows = joints[k - 1].leader;
      joint.ratio = joints[k - 1].ratio;
    }
    scene.join(joint);
    const double speed = rates[k] / std::hypot(axis[0], axis[1], axis[2]);
    const std::array<double, 3> along{speed * axis[0], speed * axis[1], speed * axis[2]}, none{};
    // The body turns about its centre, which is not on the axis; the first step corrects the velocity.
    add_rigid_velocity(*mesh, body, kind == JointKind::revolute ? none : along,
                       kind == JointKind::revolute ? along : none, velocity);
  }
  scene.set_initial_velocity(velocity);
  scene.drive("drive", {.torque = {torque}});
  return scene;
}

DifferentiableScene make_all(MPI_Comm comm, const std::string& integrator,
                             const std::vector<Follower>& joints = followers) {
  DifferentiableSolver options = testing_gradient::constrained_options(integrator, 2e-3, 6e-3, 4);
  // The constraints make the linear systems ill-conditioned.
  options.implicit.linear.tolerance = std::max(options.implicit.linear.tolerance, 1e-12);
  return make_train(comm, options, joints, 6.0, 1.0);
}

class JointRatios : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(joint_ratios, JointRatios,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2",
                                           "generalised_alpha"),
                         [](const auto& test) { return test.param; });

/// Parameters with values of other kinds (fractions of integers and others) have the effect of joints with these
/// ratios.
TEST_P(JointRatios, as_parameters_have_the_effect_of_other_joints) {
  std::vector<Follower> others = followers;
  const double ratios[] = {-0.6543217, 1.25, 0.13, -1.7, 5.5};
  DifferentiableScene changed = make_all(MPI_COMM_WORLD, GetParam());
  for (std::size_t k = 0; k < others.size(); ++k) {
    others[k].ratio = ratios[k];
    changed.parameters().at(parameter_of(others[k].name)).field.fill(ratios[k]);
    EXPECT_EQ(changed.system().joints()[k + 1].ratio, ratios[k]);
  }
  DifferentiableScene built = make_all(MPI_COMM_WORLD, GetParam(), others);
  built.set_initial_velocity(changed.initial_state()["velocities"].to_host());
  State first = changed.initial_state(), second = built.initial_state();
  for (int n = 0; n < 20; ++n) {
    changed.step(n, first);
    built.step(n, second);
  }
  const std::vector<double> x = first["positions"].to_host(), y = second["positions"].to_host();
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  EXPECT_LE(largest, 1e-9);
  const std::vector<double> q = changed.joint_coordinates(first), expected = rates_of(others, q[0]);
  EXPECT_GT(std::abs(q[0]), 0.1);
  for (std::size_t k = 0; k < q.size(); ++k) EXPECT_NEAR(q[k], expected[k], 1e-9) << k;
}

TEST_P(JointRatios, have_the_gradients_whose_slopes_differences_have) {
  testing_gradient::expect_slopes([](MPI_Comm comm) { return make_all(comm, GetParam()); }, 3, all_names);
}

TEST_P(JointRatios, derivatives_pass_the_check) {
  DifferentiableScene scene = make_all(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_checked(scene, {"body5/all", {2.0, 0.3, 0.1}, 4},
                                     testing_simulation::unknowns_of(all_names, {}));
}

/// Products with the Hessian with respect to ratios, a point, an axis and the density.
TEST_P(JointRatios, products_with_the_hessian) {
  std::vector<std::string> names = all_names;
  names.insert(names.end(), {"joint_point:gear", "joint_axis:screw", "density"});
  DifferentiableScene scene = make_all(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_hessian(scene, 3, {"body5/all", {2.0, 0.3, 0.1}, 3},
                                     testing_simulation::unknowns_of(names, {"density"}));
}

// ---- several turns ----------------------------------------------------------------------------------------------

DifferentiableSolver turning_options(const std::string& integrator, double dt) {
  DifferentiableSolver options = testing_gradient::constrained_options(integrator, dt, dt, 2);
  options.implicit.linear.tolerance = std::max(options.implicit.linear.tolerance, 1e-12);
  options.gravity = {0.0, 0.0, 0.0};
  options.damping = 1.0;
  return options;
}

/// If one of the two coordinates is a translation, the ratio's derivative is exact after any number of turns.
TEST_P(JointRatios, of_screws_and_racks_have_derivatives_after_several_turns) {
  const std::vector<Follower> joints{{"screw", "drive", JointKind::prismatic, 0.02},
                                     {"pinion", "screw", JointKind::revolute, 60.0}};
  const auto make = [&] { return make_train(MPI_COMM_WORLD, turning_options(GetParam(), 0.02), joints, 10.0, 1.5); };
  constexpr int steps = 20;
  DifferentiableScene scene = make();
  testing_simulation::expect_checked(scene, {"body2/all", {0.9, 0.3, 0.1}, steps},
                                     testing_simulation::unknowns_of(names_of(joints), {}));
  DifferentiableScene again = make();
  State state = again.initial_state();
  for (int n = 0; n < steps; ++n) again.step(n, state);
  EXPECT_GT(again.joint_coordinates(state)[1], 0.02 * 2.0 * std::numbers::pi);  // m: more than one turn
}

/// Whole turns of two rotations are not counted: derivatives with respect to the ratio are refused after half a turn,
/// and so are steps with a ratio that is not a fraction of integers. Other steps and other derivatives are possible.
TEST_P(JointRatios, of_two_rotations_are_refused_after_half_a_turn) {
  const auto problem_of = [&](DifferentiableScene& scene, Loss& loss, MemoryStore& store, const std::string& name) {
    return InverseProblem(
        scene.model(), scene.initial_state(), 12, loss, testing_simulation::unknowns_of({name}, {}),
        [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  };
  for (const double ratio : {1.0, -1.0, 1.5}) {
    SCOPED_TRACE(ratio);
    DifferentiableScene scene = make_train(MPI_COMM_WORLD, turning_options(GetParam(), 0.025),
                                           {{"gear", "drive", JointKind::revolute, ratio}}, 0.0, 1.5);
    TargetPositionLoss loss(*scene.mesh(), scene.mesh()->region("body1/all"), {0.6, 0.2, 0.1}, 12);
    MemoryStore store;
    InverseProblem by_ratio = problem_of(scene, loss, store, parameter_of("gear"));
    const std::vector<double> p = by_ratio.start();
    const std::vector<std::string> words{"no derivative with respect to 'joint_ratio:gear'",
                                         "turns by more than π from the rest position"};
    std::vector<double> gradient;
    EXPECT_EQ(testing_simulation::expect_refused([&] { by_ratio.gradient(p, gradient); }, words), ErrorKind::run);
    testing_simulation::expect_refused([&] { by_ratio.tangent(p, std::vector<double>(p.size(), 1.0), {}); }, words);
    InverseProblem by_density = problem_of(scene, loss, store, "density");
    testing_simulation::expect_checked(by_density);
    scene.parameters().at(parameter_of("gear")).field.fill(1.2345678);
    State state = scene.initial_state();
    testing_simulation::expect_refused(
        [&] {
          for (int n = 0; n < 12; ++n) scene.step(n, state);
        },
        {"joint 'gear' follows joint 'drive' with the ratio 1.2345678", "whole turns are not counted"});
  }
}

// ---- inverse problem and refusals -------------------------------------------------------------------------------

/// The ratio of two gears is found from the position of a body, from a ratio that is far away.
TEST(joint_ratios, are_found_from_a_position) {
  constexpr double ratio = -0.83;
  constexpr int steps = 25;
  const auto make = [&](double value) {
    DifferentiableSolver options = turning_options("velocity_verlet", 0.01);
    return make_train(MPI_COMM_WORLD, options, {{"gear", "drive", JointKind::revolute, value}}, 0.0, 0.5);
  };
  DifferentiableScene truth = make(ratio), scene = make(-0.5);
  State state = truth.initial_state();
  for (int n = 0; n < steps; ++n) truth.step(n, state);
  const std::array<double, 3> moved = testing_simulation::mean_displacement(*truth.mesh(), state, "body1/all");
  const std::array<double, 3> centre{0.5, 0.03, 0.01};
  TargetPositionLoss loss(*scene.mesh(), scene.mesh()->region("body1/all"),
                          {centre[0] + moved[0], centre[1] + moved[1], centre[2] + moved[2]}, steps);
  MemoryStore store;
  InverseProblem problem(
      scene.model(), scene.initial_state(), steps, loss, testing_simulation::unknowns_of({parameter_of("gear")}, {}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  OptimiserOptions options;
  options.max_iterations = 40;
  options.gradient_tolerance = 1e-9;
  const OptimiserResult result = optimise(problem, options);
  const std::vector<double> found = problem.physical(0, result.u);
  if (!found.empty()) {
    EXPECT_NEAR(found[0], ratio, 1e-6);
  }
}

TEST(joint_ratios, without_a_meaning_are_refused) {
  DifferentiableScene scene = make_all(MPI_COMM_WORLD, "velocity_verlet");
  EXPECT_EQ(scene.parameters().find("joint_ratio:drive"), nullptr);  // follows no joint
  Field &gear = scene.parameters().at(parameter_of("gear")).field,
        &pinion = scene.parameters().at(parameter_of("pinion")).field;
  gear.fill(-0.5);
  pinion.fill(0.0);
  testing_simulation::expect_refused([&] { scene.model().prepare(); },
                                     {"joint_ratio:pinion: 0 is not possible; give another number"});
  pinion.fill(6.5);  // the ratio of the gear has its effect although `prepare` threw an error
  State state = scene.initial_state();
  for (int n = 0; n < 3; ++n) scene.step(n, state);
  const std::vector<double> q = scene.joint_coordinates(state);
  EXPECT_GT(std::abs(q[0]), 1e-3);
  EXPECT_NEAR(q[1], -0.5 * q[0], 1e-12);
}

}  // namespace
}  // namespace diffsim::joint_ratios_test
