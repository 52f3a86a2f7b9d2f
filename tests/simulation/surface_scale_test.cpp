// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scales of the contact surfaces of affine and rigid bodies: derivatives, equality with scaled surfaces, refused input.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "simulation/crate_and_slab.hpp"
#include "simulation/simulation_testing.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::surface_scale_test {
namespace {

using namespace testing_affine;

struct Case {
  std::string integrator;
  bool rigid;  // false: affine bodies
  ContactLawKind law = ContactLawKind::barrier;
  double friction = 0.4;
  bool lagged = false;
};

const std::vector<std::string> scales{"surface_scale:crate", "surface_scale:slab"};

/// Scene of the crate, the slab and the soft block, in which the surfaces of the crate and of the slab have scales.
DifferentiableScene make_scene(const Case& which, MPI_Comm comm) {
  DifferentiableScene scene(crate_and_slab(comm),
                            {which.rigid ? rigid(900.0, "crate/all") : stiff(3e5, 900.0, "crate/all"), rubber(),
                             which.rigid ? rigid(700.0, "slab/all") : stiff(2e5, 700.0, "slab/all")},
                            testing_gradient::constrained_options(which.integrator, 1e-3, 6e-3, 5));
  set_in_motion(scene);
  ContactOptions contact = moving_floor(which.friction);
  contact.law = which.law;
  contact.lagged_friction = which.lagged;
  if (which.law == ContactLawKind::penalty) contact.damping = 0.8;
  contact.scales = {{"slab", 1.02, std::array{0.03, 0.09, 0.0}}, {"crate", 1.01}};
  scene.add_contact(contact);
  return scene;
}

class SurfaceScale : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, SurfaceScale,
                         testing::Values(Case{"symplectic_euler", true}, Case{"velocity_verlet", false},
                                         Case{"symplectic_euler", true, ContactLawKind::penalty},
                                         Case{"implicit_euler", true}, Case{"bdf2", false},
                                         Case{"generalised_alpha", true},
                                         Case{"implicit_euler", true, ContactLawKind::penalty, 0.0},
                                         Case{"implicit_euler", false, ContactLawKind::barrier, 0.4, true}),
                         [](const auto& which) {
                           return which.param.integrator + (which.param.rigid ? "_rigid" : "_affine") +
                                  (which.param.law == ContactLawKind::penalty ? "_penalty" : "") +
                                  (which.param.lagged ? "_lagged" : "");
                         });

TEST_P(SurfaceScale, gradients_have_the_slopes_that_differences_have) {
  const auto make = [&](MPI_Comm comm) { return make_scene(GetParam(), comm); };
  std::vector<std::string> names = scales;
  names.insert(names.end(), {"barrier_stiffness", "initial_positions", "initial_velocities"});
  testing_gradient::expect_slopes(make, 3, names);
}

TEST_P(SurfaceScale, tangents_and_adjoints_agree) {
  DifferentiableScene scene = make_scene(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_checked(scene, {"slab/all", {0.3, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(scales, {}));
}

/// Positions after ten steps of a crate on the floor.
std::vector<double> final_positions(const NamedMesh& crate, const std::function<void(ContactOptions&)>& change,
                                    double scale_later = 0.0) {
  std::vector<NamedMesh> bodies{crate};
  const auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, join_bodies(MPI_COMM_SELF, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(900.0)}, testing_gradient::tight_options("velocity_verlet", 1e-3, 6e-3, 5));
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "crate", {0.2, -0.15, 0.1}, {0.5, 2.0, -1.0}, velocity);
  scene.set_initial_velocity(velocity);
  ContactOptions contact = moving_floor(0.4);
  change(contact);
  scene.add_contact(contact);
  if (scale_later > 0.0) scene.parameters().at("surface_scale:crate").field.from_host({scale_later});
  scene.model().prepare();
  State state = scene.initial_state();
  for (int n = 0; n < 10; ++n) scene.step(n, state);
  return state["positions"].to_host();
}

/// Scales the surface of a crate beforehand, about the mean of its corners.
NamedMesh scaled_before(NamedMesh crate, double scale) {
  std::array<double, 3> centre{};
  const std::vector<double>& corners = crate.data.coordinates;
  for (std::size_t i = 0; i < 12; ++i) centre[i % 3] += 0.25 * corners[i];
  auto body = std::make_shared<AffineBody>(*crate.data.affine);
  for (auto& X : body->surface.vertices)
    for (std::size_t c = 0; c < 3; ++c) X[c] = centre[c] + scale * (X[c] - centre[c]);
  crate.data.affine = body;
  return crate;
}

// The reference has the nodes and masses of the small crate, and a surface that was scaled before.
void expect_motion_of_scaled_surface(const NamedMesh& crate) {
  const std::vector<double> plain = final_positions(crate, [](ContactOptions&) {});
  const std::vector<double> found = final_positions(crate, [](ContactOptions& contact) {
    contact.scales = {{"crate", 1.08}};
  });
  const std::vector<double> later = final_positions(
      crate, [](ContactOptions& contact) { contact.scales = {{"crate"}}; }, 1.08);
  EXPECT_EQ(found, later);
  const std::vector<double> expected = final_positions(scaled_before(crate, 1.08), [](ContactOptions&) {});
  double difference = 0.0, change = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference = std::max(difference, std::abs(found[i] - expected[i]));
    change = std::max(change, std::abs(plain[i] - expected[i]));
  }
  EXPECT_GT(change, 1e-5);
  EXPECT_LT(difference, 1e-9 * change);
}

TEST(surface_scale, has_the_motion_of_a_scaled_surface) {
  expect_motion_of_scaled_surface(
      affine_box(MPI_COMM_SELF, "crate", {0.1, 0.06, 0.08}, {0.0, 0.042, 0.0}, {1.0, 0.3, 0.2}, 0.02));
}

// The corners of the inertial tetrahedron are points of the surface: in these points all weights but one are zero.
TEST(surface_scale, has_the_motion_of_a_surface_whose_points_are_nodes) {
  NamedMesh crate = affine_box(MPI_COMM_SELF, "crate", {0.1, 0.06, 0.08}, {0.3, 0.042, 0.2}, {1.0, 0.3, 0.2}, 0.02);
  auto body = std::make_shared<AffineBody>(*crate.data.affine);
  TriangleMesh& surface = body->surface;
  surface.vertices.clear();
  for (std::size_t k = 0; k < 4; ++k)
    surface.vertices.push_back(
        {crate.data.coordinates[3 * k], crate.data.coordinates[3 * k + 1], crate.data.coordinates[3 * k + 2]});
  surface.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  double lowest = 1.0;
  for (const auto& X : surface.vertices) lowest = std::min(lowest, X[1]);
  for (std::size_t i = 1; i < 12; i += 3) crate.data.coordinates[i] += 0.003 - lowest;
  for (auto& X : surface.vertices) X[1] += 0.003 - lowest;
  crate.data.affine = body;
  expect_motion_of_scaled_surface(crate);
}

TEST(surface_scale, refuses_bad_input) {
  const auto refused = [](const diffsim::SurfaceScale& scale, const std::string& words) {
    DifferentiableScene scene(crate_and_slab(MPI_COMM_WORLD),
                              {rigid(900.0, "crate/all"), rubber(), rigid(700.0, "slab/all")}, {});
    ContactOptions contact = moving_floor(0.0);
    contact.scales = {{"slab", 1.0}, scale};
    try {
      scene.add_contact(contact);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused({"crte", 1.0}, "there is no such body; did you mean 'crate'?");
  refused({"soft", 1.0}, "the body is neither affine nor rigid");
  refused({"slab", 1.1}, "the body already has a scale");
  refused({"crate", 0.0}, "0 is not positive");
}

TEST(surface_scale, has_no_second_derivative) {
  DifferentiableScene scene = make_scene({"symplectic_euler", true}, MPI_COMM_WORLD);
  TargetPositionLoss loss(*scene.mesh(), scene.mesh()->region("slab/all"), {0.3, 0.2, 0.1}, 2);
  InverseProblem problem(scene.model(), scene.initial_state(), 2, loss, testing_simulation::unknowns_of(scales, {}));
  const std::vector<double> u = problem.start();
  EXPECT_THROW(problem.hessian_product(u, u), Error);
}

}  // namespace
}  // namespace diffsim::surface_scale_test
