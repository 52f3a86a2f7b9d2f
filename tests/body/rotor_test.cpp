// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rotors of joints: their vertices, masses and initial values.

#include "body/rotor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "body/parameters.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"
#include "simulation/affine_bodies.hpp"

namespace diffsim::body::rotor_test {
namespace {

const Joint hinge{.name = "arm/hinge",
                  .body = "wheel",
                  .other = "base",
                  .point = {0.1, 0.0, 0.0},
                  .axis = {0.0, 0.0, 2.0},
                  .coordinate = 0.4,
                  .armature = 0.03};

std::shared_ptr<TetrahedralMesh> make_mesh() {
  std::vector<NamedMesh> bodies;
  bodies.push_back(testing_affine::affine_box(MPI_COMM_WORLD, "base", {0.2, 0.1, 0.15}, {0.0, 0.0, 0.0}));
  bodies.push_back({hinge.rotor(), rotor_mesh(MPI_COMM_WORLD)});
  bodies.push_back(testing_affine::affine_box(MPI_COMM_WORLD, "wheel", {0.2, 0.1, 0.15}, {0.3, 0.0, 0.0}));
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
}

TEST(rotor, is_a_director_of_one_rank_and_in_no_region) {
  const auto mesh = make_mesh();
  EXPECT_EQ(hinge.rotor(), "arm.hinge.rotor");
  EXPECT_EQ(mesh->num_global_directors(), 1);
  EXPECT_TRUE(is_rotor(mesh->bodies()[mesh->find_body(hinge.rotor())]));
  EXPECT_FALSE(is_rotor(mesh->bodies()[mesh->find_body("wheel")]));
  const int vertex = find_rotor(*mesh, hinge);
  EXPECT_EQ(sum_over_ranks(vertex >= 0 ? std::int64_t{1} : std::int64_t{0}, MPI_COMM_WORLD), 1);
  for (const int v : mesh->region("all").vertices) EXPECT_NE(v, vertex);
  EXPECT_TRUE(mesh->region(hinge.rotor() + "/all").vertices.empty());
  if (vertex < 0) return;
  EXPECT_NE(mesh->is_director()[static_cast<std::size_t>(vertex)], 0);
  EXPECT_EQ(mesh->rest_positions()[3 * static_cast<std::size_t>(vertex)], 1.0);
}

TEST(rotor, mass_and_its_derivatives) {
  const auto mesh = make_mesh();
  const auto inertia = make_rotor_inertia(*mesh, hinge);
  ParameterSet parameters;
  const auto one = Entities::one_for_all(MPI_COMM_WORLD);
  parameters.add(JointParameters::armature, one, 1, hinge.name).field.fill(0.03);
  EXPECT_TRUE(inertia->depends_on(parameters));
  Field mass("mass", mesh->vertex_entities(), 3), tangent = mass.like("tangent"), bar = mass.like("bar");
  inertia->add_mass(parameters, mass);
  const std::string name = "joint_armature:arm/hinge";
  ParameterSet direction = parameters.zero_like({name}), gradient = parameters.zero_like({name});
  direction.fill(2.0);
  inertia->add_mass_tangent(parameters, direction, tangent);
  const int vertex = find_rotor(*mesh, hinge);
  const std::vector<double> m = mass.to_host(), dm = tangent.to_host();
  for (std::size_t i = 0; i < m.size(); ++i) {
    const bool is_here = static_cast<int>(i / 3) == vertex;
    EXPECT_EQ(m[i], is_here ? 0.03 : 0.0);
    EXPECT_EQ(dm[i], is_here ? 2.0 : 0.0);
  }
  bar.fill(0.7);
  inertia->add_mass_adjoint(parameters, bar, gradient);
  sum_globals(gradient, MPI_COMM_WORLD);
  EXPECT_NEAR(gradient.at(name).field.to_host()[0], 2.1, 1e-15);
}

/// The wheel turns by 0.5 rad about the axis, at 3 rad/s.
TEST(rotor, follows_the_positions_and_velocities_of_the_bodies) {
  const auto mesh = make_mesh();
  std::vector<double> positions = mesh->rest_positions(),
                      velocities(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
  const double c = std::cos(0.5), s = std::sin(0.5);
  for (const int v : mesh->region("wheel/all").vertices) {
    if (v >= mesh->num_owned_vertices()) continue;
    const std::size_t i = 3 * static_cast<std::size_t>(v);
    const double x = positions[i] - 0.1, y = positions[i + 1];
    positions[i] = 0.1 + c * x - s * y;
    positions[i + 1] = s * x + c * y;
    velocities[i] = -3.0 * positions[i + 1];
    velocities[i + 1] = 3.0 * (positions[i] - 0.1);
  }
  turn_rotors(*mesh, {hinge}, positions, velocities);
  const int vertex = find_rotor(*mesh, hinge);
  if (vertex < 0) return;
  const std::size_t i = 3 * static_cast<std::size_t>(vertex);
  const double expected[6] = {c, s, 0.0, -3.0 * s, 3.0 * c, 0.0};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(positions[i + k], expected[k], 1e-14);
    EXPECT_NEAR(velocities[i + k], expected[3 + k], 1e-13);
  }
}

}  // namespace
}  // namespace diffsim::body::rotor_test
