// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rigid bodies and joints: gradients of rollouts, stable substeps, refused input.

#include <gtest/gtest.h>

#include "diffsim/mesh/construction.hpp"
#include "simulation/crate_and_slab.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::rigid_bodies_test {
namespace {

using namespace testing_affine;

// ---- gradients --------------------------------------------------------------------------------------------------

struct Case {
  std::string integrator;
  double friction;  // negative: no contact
  bool joints;
  int direct_below = 5000;  // LinearOptions::direct_below
};

/// Scene of the crate and the slab, which are rigid, and the soft block. With joints, the crate hangs on a spherical
/// joint, and a hinge connects the slab with the crate.
DifferentiableScene make_scene(const Case& which, MPI_Comm comm) {
  DifferentiableSolver options = testing_gradient::constrained_options(which.integrator, 1e-3, 6e-3, 5);
  options.implicit.linear.direct_below = which.direct_below;
  DifferentiableScene scene(crate_and_slab(comm), {rigid(900.0, "crate/all"), rubber(), rigid(700.0, "slab/all")},
                            options);
  if (which.joints) {
    scene.join({"hook", JointKind::spherical, "crate", "", {0.03, 0.06, 0.02}});
    scene.join({"hinge", JointKind::revolute, "slab", "crate", {-0.05, 0.08, 0.0}, {0.1, 0.2, 1.0}});
    // The lower limit is near enough for its barrier to act.
    scene.drive("hinge", {.torque = {0.02},
                          .target = {0.1},
                          .stiffness = 0.3,
                          .damping = 1e-3,
                          .friction = 0.01,
                          .friction_velocity = 0.5,
                          .limits = {-0.04, 1.0},
                          .limit_stiffness = 0.2,
                          .limit_distance = 0.1});
  }
  set_in_motion(scene);
  if (which.friction >= 0.0) add_moving_floor(scene, which.friction);
  return scene;
}

std::vector<std::string> names_for(const Case& which) {
  std::vector<std::string> names{"density", "gravity", "initial_positions", "initial_velocities"};
  if (which.integrator == "symplectic_euler") names.emplace_back("damping");
  if (which.joints)
    for (const char* parameter : {"torque", "stiffness", "damping", "target", "friction", "limit_stiffness"})
      names.push_back(std::string("joint_") + parameter + ":hinge");
  // Without contact the soft block falls almost without stress.
  if (which.friction >= 0.0)
    names.insert(names.end(), {"youngs_modulus", "barrier_distance", "barrier_stiffness", "obstacle_position:0",
                               "obstacle_velocity:0"});
  if (which.friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
  return names;
}

std::string name_of(const ::testing::TestParamInfo<Case>& named) {
  const Case& which = named.param;
  return which.integrator + (which.friction < 0.0 ? "_free" : "_rough") + (which.joints ? "_joints" : "");
}

class RigidBodies : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, RigidBodies,
                         ::testing::Values(Case{"symplectic_euler", -1.0, false}, Case{"symplectic_euler", 0.4, true},
                                           Case{"velocity_verlet", -1.0, true}, Case{"velocity_verlet", 0.4, false},
                                           Case{"implicit_euler", -1.0, false}, Case{"implicit_euler", 0.4, true},
                                           Case{"bdf2", -1.0, true}, Case{"bdf2", 0.4, false},
                                           Case{"generalised_alpha", -1.0, false},
                                           Case{"generalised_alpha", 0.4, true}),
                         name_of);

TEST_P(RigidBodies, have_the_gradients_whose_slopes_differences_have) {
  const Case which = GetParam();
  const auto make = [&](MPI_Comm comm) { return make_scene(which, comm); };
  if (which.friction >= 0.0) {
    DifferentiableScene scene = make(MPI_COMM_WORLD);
    EXPECT_GT(testing_gradient::most_active_pairs(scene, 3), 10);
  }
  testing_gradient::expect_slopes(make, 3, names_for(which));
}

TEST_P(RigidBodies, derivatives_pass_the_check) {
  DifferentiableScene scene = make_scene(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_checked(scene, {"slab/all", {0.3, 0.2, 0.1}, 6},
                                     testing_simulation::unknowns_of({"density", "gravity"}, {}));
}

TEST_P(RigidBodies, products_with_the_hessian) {
  DifferentiableScene scene = make_scene(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(scene, 3, {"slab/all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of({"density", "gravity"}, {}));
}

/// Chain of six rigid bars. On several ranks, neighbours are on different ranks, and one rank computes the constraints.
DifferentiableScene make_chain(MPI_Comm comm, const std::string& integrator) {
  std::vector<NamedMesh> bodies;
  for (int b = 0; b < 6; ++b)
    bodies.push_back(affine_box(comm, "bar" + std::to_string(b), {0.1, 0.03, 0.02}, {0.1 * b, 0.01 * b, 0.0}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  if (num_ranks(comm) > 1) {
    EXPECT_LT(mesh->num_cells(), 6);
  }
  DifferentiableScene scene(mesh, {rigid(900.0)}, testing_gradient::constrained_options(integrator, 1e-3, 6e-3, 5));
  scene.join({"joint0", JointKind::spherical, "bar0", "", {-0.05, 0.0, 0.0}});
  for (int b = 1; b < 6; ++b)
    scene.join({"joint" + std::to_string(b),
                b % 2 == 1 ? JointKind::revolute : JointKind::universal,
                "bar" + std::to_string(b),
                "bar" + std::to_string(b - 1),
                {0.1 * b - 0.05, 0.01 * b, 0.0},
                {0.1, 0.3, 1.0}});
  scene.drive("joint3", {.torque = {0.02}, .target = {0.1}, .stiffness = 0.3, .damping = 1e-3});
  return scene;
}

class Chain : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(rigid_bodies, Chain, testing::Values("velocity_verlet", "bdf2", "generalised_alpha"),
                         [](const auto& test) { return test.param; });

TEST_P(Chain, joints_between_ranks) {
  testing_gradient::expect_slopes(
      [](MPI_Comm comm) { return make_chain(comm, GetParam()); }, 3,
      {"density", "gravity", "initial_positions", "initial_velocities", "joint_torque:joint3", "joint_damping:joint3"});
}

/// Systems on the tangent space are solved by GMRES with algebraic multigrid as well as by factors.
TEST(rigid_bodies, gradients_do_not_depend_on_the_linear_solver) {
  const auto slopes = [](int direct_below) {
    Case which{"bdf2", 0.4, true};
    which.direct_below = direct_below;
    return testing_gradient::slopes_of_gradient(make_scene(which, MPI_COMM_WORLD), 3, names_for(which));
  };
  const std::vector<double> factored = slopes(5000), iterated = slopes(0);
  for (std::size_t k = 0; k < factored.size(); ++k)
    EXPECT_NEAR(iterated[k], factored[k], 1e-9 * std::abs(factored[k])) << names_for({"bdf2", 0.4, true})[k];
}

/// Unknowns of rigid bodies do not count for the largest number of unknowns of systems that are factored.
TEST(rigid_bodies, systems_of_few_unknowns_besides_rigid_bodies_are_factored) {
  const Case factored{"implicit_euler", 0.4, false};
  const auto slopes = [&](int direct_below) {
    Case which = factored;
    which.direct_below = direct_below;
    return testing_gradient::slopes_of_gradient(make_scene(which, MPI_COMM_SELF), 3, names_for(which));
  };
  const int unknowns = 3 * make_scene(factored, MPI_COMM_SELF).mesh()->num_vertices(), of_rigid_bodies = 24;
  const std::vector<double> by_factors = slopes(5000);
  EXPECT_EQ(slopes(unknowns - of_rigid_bodies), by_factors);
  EXPECT_NE(slopes(unknowns - of_rigid_bodies - 1), by_factors);
}

// ---- refusals ---------------------------------------------------------------------------------------------------

TEST(rigid_bodies, joints_and_drives_are_added_once_and_in_time) {
  DifferentiableScene scene = make_scene({"velocity_verlet", -1.0, true}, MPI_COMM_WORLD);
  testing_simulation::expect_refused([&] { scene.drive("hinge", {}); }, {"joint 'hinge' is already driven"});
  testing_simulation::expect_refused([&] { scene.drive("hook", {}); }, {"only revolute and prismatic joints"});
  testing_simulation::expect_refused([&] { scene.drive("hing", {}); }, {"did you mean 'hinge'?"});
  scene.stable_substep();
  testing_simulation::expect_refused([&] { scene.join({"late", JointKind::fixed, "crate"}); }, {"already prepared"});
}

TEST(rigid_bodies, damping_of_joints_limits_the_substep) {
  const auto stable = [](double damping) {
    DifferentiableScene scene = make_scene({"velocity_verlet", -1.0, false}, MPI_COMM_WORLD);
    scene.join({"hinge", JointKind::revolute, "slab", "crate", {-0.05, 0.08, 0.0}, {0.1, 0.2, 1.0}});
    scene.drive("hinge", {.damping = damping});
    return scene.stable_substep();
  };
  EXPECT_LT(stable(10.0), 0.1 * stable(1e-6));
}

TEST(rigid_bodies, limits_that_mean_nothing_are_refused) {
  const auto refused = [](const JointDrive& drive, const std::string& says) {
    DifferentiableScene scene = make_scene({"velocity_verlet", -1.0, false}, MPI_COMM_WORLD);
    scene.join({"hinge", JointKind::revolute, "slab", "crate", {-0.05, 0.08, 0.0}, {0.1, 0.2, 1.0}});
    testing_simulation::expect_refused([&] { scene.drive("hinge", drive); }, {"joint 'hinge': " + says});
  };
  refused({.limits = {0.1, 1.0}, .limit_stiffness = 1.0},
          "the initial coordinate 0 must be between the limits [0.1, 1]");
  refused({.limits = {1.0, -1.0}, .limit_stiffness = 1.0}, "the limits [1, -1] are not in increasing order");
  refused({.limits = {-1.0, 3.2}, .limit_stiffness = 1.0}, "both limits [-1, 3.2] of a rotation must be within π");
  refused({.limits = {-1.0, 1.0}}, "limits need a positive limit_stiffness");
  refused({.limits = {-1.0, 1.0}, .limit_stiffness = 1.0, .limit_distance = INFINITY},
          "limit_distance must be positive and finite");
  refused({.friction_velocity = 0.0}, "friction_velocity must be positive");
}

TEST(rigid_bodies, refuse_the_rest_shape_as_a_parameter) {
  DifferentiableScene scene = make_scene({"velocity_verlet", -1.0, true}, MPI_COMM_WORLD);
  scene.model().prepare();
  ParameterSet gradient = scene.parameters().zero_like({"rest_positions"});
  testing_simulation::expect_refused([&] { scene.model().begin_adjoint(gradient); }, {"'rest_positions'"});
}

}  // namespace
}  // namespace diffsim::rigid_bodies_test
