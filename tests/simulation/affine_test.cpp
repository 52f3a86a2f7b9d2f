// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Affine bodies: gradients of rollouts in contact with a plane, with each other and with a soft body; attachments;
// refused input.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact/barrier.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/crate_and_slab.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::affine_test {
namespace {

using namespace testing_affine;

struct Case {
  std::string integrator;
  double friction;  // negative: no contact
};

/// Scene of the crate, the slab and the soft block. Without contact, all bodies are stretched at the start.
DifferentiableScene make_solver(const Case& which, MPI_Comm comm) {
  const auto mesh = crate_and_slab(comm);
  const DifferentiableMaterial resin{
      "stable_neo_hookean", {{"youngs_modulus", 2e5}, {"poisson_ratio", 0.2}, {"density", 700.0}}, "slab/all"};
  DifferentiableScene solver(mesh, {stiff(3e5, 900.0, "crate/all"), rubber(), resin},
                             testing_gradient::tight_options(which.integrator, 1e-3, 6e-3, 5));
  set_in_motion(solver);
  if (which.friction < 0.0) {  // initial stretches, so that the bodies vibrate
    std::vector<double> displacement;
    for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
      const double* const X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
      displacement.insert(displacement.end(), {0.08 * X[0], -0.05 * X[1] + 0.06 * X[2], 0.04 * X[2]});
    }
    solver.set_initial_displacement(displacement);
    return solver;
  }
  add_moving_floor(solver, which.friction);
  return solver;
}

std::vector<std::string> names_for(const Case& which) {
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",     "density",           "gravity",
                                 "rest_positions", "initial_positions", "initial_velocities"};
  // Without initial stretches, the strain of the attachment is too small for finite differences to resolve.
  if (which.friction < 0.0) names.insert(names.end(), {"attachment_stiffness:knob", "attachment_place:knob"});
  if (which.integrator == "symplectic_euler") names.emplace_back("damping");
  if (which.friction >= 0.0)
    names.insert(names.end(), {"barrier_distance", "barrier_stiffness", "obstacle_position:0", "obstacle_velocity:0"});
  if (which.friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
  return names;
}

std::string name_of(const ::testing::TestParamInfo<Case>& named) {
  const Case& which = named.param;
  return which.integrator + (which.friction < 0.0 ? "_free" : which.friction == 0.0 ? "_smooth" : "_rough");
}

class Affine : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, Affine,
                         ::testing::Values(Case{"symplectic_euler", -1.0}, Case{"symplectic_euler", 0.4},
                                           Case{"velocity_verlet", 0.4}, Case{"implicit_euler", 0.0},
                                           Case{"implicit_euler", 0.4}, Case{"bdf2", 0.4}, Case{"newmark", -1.0},
                                           Case{"newmark", 0.4}),
                         name_of);

TEST_P(Affine, has_the_gradients_whose_slopes_differences_have) {
  const Case which = GetParam();
  const auto make = [&](MPI_Comm comm) { return make_solver(which, comm); };
  if (which.friction >= 0.0) {
    DifferentiableScene solver = make(MPI_COMM_WORLD);
    EXPECT_GT(testing_gradient::most_active_pairs(solver, 3), 10);
  }
  testing_gradient::expect_slopes(make, 3, names_for(which));
}

class SomeAffine : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, SomeAffine,
                         ::testing::Values(Case{"symplectic_euler", 0.4}, Case{"implicit_euler", 0.4},
                                           Case{"newmark", -1.0}),
                         name_of);

TEST_P(SomeAffine, derivatives_pass_the_check) {
  DifferentiableScene solver = make_solver(GetParam(), MPI_COMM_WORLD);
  std::vector<std::string> names{"youngs_modulus", "density"};
  if (GetParam().friction >= 0.0) names.emplace_back("barrier_stiffness");
  testing_simulation::expect_checked(solver, {"corner", {0.3, 0.2, 0.1}, 6},
                                     testing_simulation::unknowns_of(names, {}));
}

TEST_P(SomeAffine, products_with_the_hessian) {
  DifferentiableScene solver = make_solver(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"corner", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of({"youngs_modulus", "density"}, {}));
}

// ---- refusals ---------------------------------------------------------------------------------------------------

TEST(affine, has_no_faces_for_loads) {
  DifferentiableScene solver = make_solver({"newmark", -1.0}, MPI_COMM_WORLD);
  testing_simulation::expect_refused(
      [&] {
        solver.add_traction("crate/all", {1.0, 0.0, 0.0});
      },
      {"region 'crate/all' has faces of an affine body, for which surface loads are not supported", "nodal_load"});
}

TEST(affine, adaptive_stiffness_needs_weight) {
  const auto make = [](double gravity) {
    std::vector<NamedMesh> bodies;
    bodies.push_back(affine_box(MPI_COMM_WORLD, "crate", {0.2, 0.2, 0.2}, {0.0, 0.2, 0.0}));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    DifferentiableScene solver(mesh, {stiff(1e7, 1000.0)},
                               {.gravity = {0.0, -gravity, 0.0}, .integrator = Integrator::newmark});
    ContactOptions contact;
    contact.adaptive_stiffness = true;
    contact.barrier_distance = 2e-3;
    contact.planes.push_back({});
    solver.add_contact(contact);
    return solver.parameters().at("barrier_stiffness").field.to_host().at(0);
  };
  // Energy of a fall by 0.2 m, divided by a tenth of the area 0.24 m² and by 4.51 d̂.
  EXPECT_NEAR(make(10.0), 8.0 * 10.0 * 0.2 / (0.1 * 0.24 * 4.51 * 2e-3), 1.0);
  testing_simulation::expect_refused([&] { make(0.0); }, {"affine bodies without weight", "barrier_stiffness"});
}

// Of two affine bodies, only crossing edges may touch. Their force at the gap d̂/10 is the mean weight of a body.
TEST(affine, adaptive_stiffness_follows_the_weight_on_crossing_edges) {
  const auto make = [](double distance) {
    std::vector<NamedMesh> bodies;
    bodies.push_back(affine_box(MPI_COMM_WORLD, "crate", {0.2, 0.2, 0.2}, {0.0, 0.2, 0.0}));
    bodies.push_back(affine_box(MPI_COMM_WORLD, "box", {0.1, 0.2, 0.2}, {0.0, 0.5, 0.0}));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    DifferentiableScene solver(mesh, {stiff(1e7, 1000.0)},
                               {.gravity = {0.0, -10.0, 0.0}, .integrator = Integrator::newmark});
    return solver.adaptive_stiffness(distance);
  };
  const auto alone = [](std::size_t obstacles) {
    std::vector<NamedMesh> bodies;
    bodies.push_back(affine_box(MPI_COMM_WORLD, "crate", {0.2, 0.2, 0.2}, {0.0, 0.2, 0.0}));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    DifferentiableScene solver(mesh, {stiff(1e7, 1000.0)},
                               {.gravity = {0.0, -10.0, 0.0}, .integrator = Integrator::newmark});
    return solver.adaptive_stiffness(1e-3, 0.0, obstacles);
  };
  EXPECT_NEAR(alone(1) * 5.36e-6, 80.0, 1e-6);
  EXPECT_LT(alone(0), 0.1 * alone(1));
  const double distance = 1e-3, gap = 0.1 * distance;
  const contact::Barrier psi(gap * gap, distance, 0.0);
  const double of_edges = 0.25 * distance * distance * -2.0 * gap * psi.gradient;  // force for κ = 1 Pa, N
  EXPECT_NEAR(make(distance) * of_edges, 0.5 * (8.0 + 4.0) * 10.0, 0.06);
  EXPECT_NEAR(make(0.5 * distance), 4.0 * make(distance), 1e-6 * make(distance));
}

TEST(affine, surface_is_not_given_twice) {
  DifferentiableScene solver = make_solver({"newmark", -1.0}, MPI_COMM_WORLD);
  ContactOptions contact;
  contact.surfaces.push_back({"crate", contact::box_triangles({-0.05, 0.01, -0.04}, {0.05, 0.07, 0.04})});
  testing_simulation::expect_refused([&] { solver.add_contact(contact); },
                                     {"surface of body 'crate'", "the body already has a surface"});
}

}  // namespace
}  // namespace diffsim::affine_test
