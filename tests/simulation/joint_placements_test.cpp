// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Points and axes of joints as parameters: rollouts, gradients of all kinds of joints, second derivatives, refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_scenes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::joint_placements_test {
namespace {

using namespace testing_affine;
using Vector = std::array<double, 3>;

/// Joints of a chain that hangs from the world: a post, an arm, a sleeve that slides on the arm, a plate, a puck on the
/// plate and a ball.
std::vector<Joint> chain_joints() {
  return {{"floor", JointKind::revolute, "post", "", {0, 0, 0}, {0.1, 1, 0.2}},
          {"hinge", JointKind::revolute, "arm", "post", {0, 0.5, 0.05}, {0.2, 0.1, 1}},
          {"slide", JointKind::prismatic, "sleeve", "arm", {0.4, 0.5, 0.1}, {1, 0.1, 0.2}},
          {"cross", JointKind::universal, "plate", "arm", {0.6, 0.5, 0.1}, {0.1, 1, 0.2}},
          {"table", JointKind::planar, "puck", "plate", {0.9, 0.5, 0.1}, {0.1, 1, 0}},
          {"socket", JointKind::spherical, "ball", "puck", {1.0, 0.43, 0.1}}};
}

struct Box {
  const char* name;
  Vector size, centre;
};
constexpr Box chain_boxes[] = {
    {"post", {0.1, 0.5, 0.1}, {0, 0.25, 0}},       {"arm", {0.6, 0.06, 0.05}, {0.3, 0.5, 0.1}},
    {"sleeve", {0.1, 0.1, 0.12}, {0.4, 0.5, 0.1}}, {"plate", {0.2, 0.02, 0.1}, {0.7, 0.5, 0.1}},
    {"puck", {0.1, 0.1, 0.1}, {1.0, 0.5, 0.1}},    {"ball", {0.08, 0.1, 0.06}, {1.02, 0.35, 0.1}}};

/// Scene of the chain, with a driven hinge and armatures of the hinge and the slide.
DifferentiableScene make_chain(MPI_Comm comm, const std::string& integrator,
                               const std::vector<Joint>& joints = chain_joints()) {
  DifferentiableSolver options = testing_gradient::constrained_options(integrator, 1e-3, 4e-3, 4);
  // The constraints make the linear systems ill-conditioned.
  options.implicit.linear.tolerance = std::max(options.implicit.linear.tolerance, 1e-12);
  std::vector<NamedMesh> bodies;
  std::vector<DifferentiableMaterial> materials;
  for (const auto& [name, size, centre] : chain_boxes) {
    bodies.push_back(affine_box(comm, name, size, centre));
    materials.push_back(rigid(800.0, std::string(name) + "/all"));
  }
  std::vector<Joint> all = joints;
  for (Joint& joint : all) {
    if (joint.name != "hinge" && joint.name != "slide") continue;
    joint.armature = joint.name == "hinge" ? 4e-3 : 0.3;
    bodies.push_back({joint.rotor(), rotor_mesh(comm)});
  }
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableScene scene(mesh, materials, options);
  for (const Joint& joint : all) scene.join(joint);
  scene.drive("hinge", {.torque = {2.0},
                        .target = {0.3},
                        .stiffness = 8.0,
                        .damping = 0.4,
                        .friction = 0.2,
                        .friction_velocity = 0.5,
                        .limits = {-0.05, 0.2},
                        .limit_stiffness = 40.0,
                        .limit_distance = 0.2});
  scene.drive("slide", {.torque = {-1.0}, .stiffness = 30.0});
  return scene;
}

/// Placements on which the motion of the chain depends. The points of prismatic joints have no effect without a drive.
const std::vector<std::string> chain_names{
    "joint_point:floor", "joint_axis:floor", "joint_point:hinge", "joint_axis:hinge",   "joint_axis:slide",
    "joint_point:cross", "joint_axis:cross", "joint_axis:table",  "joint_point:socket", "density"};

class JointPlacements : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(joint_placements, JointPlacements,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2",
                                           "generalised_alpha"),
                         [](const auto& test) { return test.param; });

/// A change of the parameters has the effect of other joints. The smallest components of the axes are the same.
TEST_P(JointPlacements, as_parameters_have_the_effect_of_other_joints) {
  std::vector<Joint> moved = chain_joints();
  DifferentiableScene changed = make_chain(MPI_COMM_WORLD, GetParam());
  for (Joint& joint : moved) {
    joint.point = {joint.point[0] + 0.02, joint.point[1] - 0.01, joint.point[2] + 0.03};
    changed.parameters().at("joint_point:" + joint.name).field.from_host({joint.point.begin(), joint.point.end()});
    if (joint.kind == JointKind::spherical) continue;
    joint.axis = {joint.axis[0] + 0.02, 1.1 * joint.axis[1], joint.axis[2] + 0.02};
    changed.parameters().at("joint_axis:" + joint.name).field.from_host({joint.axis.begin(), joint.axis.end()});
  }
  DifferentiableScene built = make_chain(MPI_COMM_WORLD, GetParam(), moved);
  State first = changed.initial_state(), second = built.initial_state(), before = first.clone();
  for (DifferentiableScene* scene : {&changed, &built}) {
    State& state = scene == &changed ? first : second;
    for (int n = 0; n < 20; ++n) scene->step(n, state);
  }
  const std::vector<double> x = first["positions"].to_host(), y = second["positions"].to_host(),
                            X = before["positions"].to_host();
  double largest = 0.0, moves = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(x[i] - y[i]));
    moves = std::max(moves, std::abs(x[i] - X[i]));
  }
  EXPECT_LE(largest, 1e-9);
  EXPECT_GT(moves, 1e-3);
  const std::vector<double> q = changed.joint_coordinates(first), p = built.joint_coordinates(second);
  for (const std::size_t joint : {0, 1, 2}) {
    EXPECT_NEAR(q[joint], p[joint], 1e-9);
    // The loss of a coordinate reads the placement from the parameters, not from the joint.
    JointLoss of_changed(*changed.mesh(), chain_joints()[joint], {{20, 1.0}}),
        of_built(*built.mesh(), moved[joint], {{20, 1.0}});
    const double value = of_changed.value(20, first, changed.parameters());
    EXPECT_NEAR(value, of_built.value(20, second, built.parameters()), 1e-9);
  }
}

TEST_P(JointPlacements, have_the_gradients_whose_slopes_differences_have) {
  testing_gradient::expect_slopes([](MPI_Comm comm) { return make_chain(comm, GetParam()); }, 3, chain_names);
}

TEST_P(JointPlacements, derivatives_pass_the_check) {
  DifferentiableScene scene = make_chain(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_checked(scene, {"ball/all", {0.9, 0.3, 0.2}, 5},
                                     testing_simulation::unknowns_of(chain_names, {"density"}));
}

TEST_P(JointPlacements, products_with_the_hessian) {
  DifferentiableScene scene = make_chain(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_hessian(scene, 3, {"ball/all", {0.9, 0.3, 0.2}, 3},
                                     testing_simulation::unknowns_of(chain_names, {"density"}));
}

// ---- joints that follow joints, and the loss of a coordinate -----------------------------------------------------

/// Three bodies on a post: a wheel, a second wheel that follows the first one, and a slide that follows the second one.
DifferentiableScene make_train(MPI_Comm comm, const std::string& integrator) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "wheel", {0.2, 0.1, 0.05}, {0.02, 0.0, 0.0}));
  bodies.push_back(affine_box(comm, "second", {0.2, 0.1, 0.05}, {0.5, 0.03, 0.0}));
  bodies.push_back(affine_box(comm, "slide", {0.3, 0.04, 0.05}, {0.0, 0.5, 0.0}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableSolver options = testing_gradient::constrained_options(integrator, 1e-3, 4e-3, 4);
  DifferentiableScene scene(mesh, {rigid(900.0)}, options);
  scene.join({.name = "drive", .kind = JointKind::revolute, .body = "wheel", .axis = {0.1, 0.2, 1.0}});
  scene.join({.name = "follower",
              .kind = JointKind::revolute,
              .body = "second",
              .point = {0.5, 0.0, 0.0},
              .axis = {0.2, -0.1, 1.0},
              .follows = "drive",
              .ratio = -0.7});
  scene.join({.name = "rail",
              .kind = JointKind::prismatic,
              .body = "slide",
              .other = "second",
              .point = {0.0, 0.5, 0.0},
              .axis = {1.0, 0.2, 0.1},
              .follows = "follower",
              .ratio = 0.11});
  scene.drive("follower", {.torque = {3.0}});
  return scene;
}

const std::vector<std::string> train_names{"joint_point:drive", "joint_axis:drive", "joint_point:follower",
                                           "joint_axis:follower", "joint_axis:rail"};

TEST_P(JointPlacements, of_joints_that_follow_joints_have_gradients) {
  testing_gradient::expect_slopes([](MPI_Comm comm) { return make_train(comm, GetParam()); }, 3, train_names);
}

TEST_P(JointPlacements, of_joints_that_follow_joints_pass_the_check) {
  DifferentiableScene scene = make_train(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_checked(scene, {"slide/all", {0.3, 0.2, 0.1}, 4},
                                     testing_simulation::unknowns_of(train_names, {}));
  testing_simulation::expect_hessian(scene, 3, {"slide/all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(train_names, {}));
}

/// The coordinate of a joint depends on its axis, also at given positions.
TEST_P(JointPlacements, enter_the_loss_of_a_coordinate) {
  for (const std::size_t joint : {1, 2}) {
    DifferentiableScene scene = make_chain(MPI_COMM_WORLD, GetParam());
    const Joint observed = chain_joints()[joint];
    JointLoss loss(*scene.mesh(), observed, {{3, 0.2}, {5, 0.4}});
    MemoryStore store;
    const std::vector<Unknown> unknowns =
        testing_simulation::unknowns_of({"joint_axis:" + observed.name, "joint_axis:floor", "joint_point:hinge"}, {});
    InverseProblem problem(
        scene.model(), scene.initial_state(), 5, loss, unknowns,
        [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
    testing_simulation::expect_checked(problem);
    const HessianCheck check = check_hessian(problem, problem.start());
    EXPECT_LE(check.symmetry, 1e-10);
    EXPECT_TRUE(check.passed) << check.product << " " << check.difference;
  }
}

TEST(joint_placements, axes_without_a_direction_are_refused) {
  DifferentiableScene scene = make_chain(MPI_COMM_WORLD, "velocity_verlet");
  scene.parameters().at("joint_axis:hinge").field.fill(0.0);
  testing_simulation::expect_refused([&] { scene.model().prepare(); },
                                     {"joint 'hinge' has an axis of zero or infinite length"});
}

TEST(joint_placements, two_joints_of_one_name_are_refused) {
  DifferentiableScene scene = make_chain(MPI_COMM_WORLD, "velocity_verlet");
  testing_simulation::expect_refused([&] { scene.join({.name = "hinge", .body = "ball"}); },
                                     {"there is already a joint 'hinge'"});
}

}  // namespace
}  // namespace diffsim::joint_placements_test
