// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Stresses and strains of single tetrahedra in homogeneous deformations, and sums of the contact forces and reactions
// of vertices.
#include "sensor/cell_stress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/simulation/scene.hpp"
#include "sensor/sensor_derivatives.hpp"

namespace diffsim::cell_stress_test {
namespace {

using Matrix = Mat3<double>;

constexpr double mu = 2e4, lambda = 3e4;

DifferentiableMaterial material(const std::string& law, const std::string& region) {
  const double E = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), nu = lambda / (2.0 * (lambda + mu));
  return {law, {{"youngs_modulus", E}, {"poisson_ratio", nu}, {"density", 1200.0}}, region};
}

/// Deformation gradients: a stretch along the axes, a general deformation, and the general deformation after a
/// rotation.
std::vector<Matrix> deformations() {
  const Matrix stretch{{{1.3, 0.0, 0.0}, {0.0, 0.9, 0.0}, {0.0, 0.0, 0.95}}};
  const Matrix general{{{1.2, 0.1, -0.05}, {0.03, 0.9, 0.2}, {-0.1, 0.02, 1.1}}};
  const double c = std::cos(0.7), s = std::sin(0.7);
  const Matrix turn{{{c, -s, 0.0}, {s, c, 0.0}, {0.0, 0.0, 1.0}}}, other{{{1.0, 0.0, 0.0}, {0.0, s, -c}, {0.0, c, s}}};
  return {stretch, general, turn * (other * general)};
}

/// Cauchy stress σ = P Fᵀ/J of a law.
Matrix cauchy_stress(const std::string& law, const Matrix& F) {
  const Matrix one = Matrix::identity(), E = 0.5 * (transpose(F) * F - one);
  const double J = determinant(F);
  if (law == "neo_hookean") return (1.0 / J) * (mu * (times_transpose(F, F) - one) + (lambda * std::log(J)) * one);
  return (1.0 / J) * (F * times_transpose((2.0 * mu) * E + (lambda * trace(E)) * one, F));
}

/// State with the positions x = F X + (0.3, -0.2, 0.1).
State moved(DifferentiableScene& scene, const Matrix& F) {
  scene.model().prepare();
  State state = scene.initial_state();
  std::vector<double> x = state["positions"].to_host();
  const std::array<double, 3> shift{0.3, -0.2, 0.1};
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const double* const X = &scene.mesh()->rest_positions()[i];
    const Vec3<double> y = F * Vec3<double>{{X[0], X[1], X[2]}};
    for (std::size_t c = 0; c < 3; ++c) x[i + c] = y[static_cast<int>(c)] + shift[c];
  }
  state["positions"].from_host(x);
  return state;
}

void expect_cell(const std::vector<double>& values, int cell, const Matrix& expected, double tolerance) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(values.at(9 * static_cast<std::size_t>(cell) + static_cast<std::size_t>(3 * i + j)), expected(i, j),
                  tolerance)
          << cell << ": " << i << ", " << j;
}

class Stresses : public testing::TestWithParam<int> {};

TEST_P(Stresses, are_those_of_the_laws_in_homogeneous_deformations) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {4, 2, 1}, GetParam());
  mesh->define_region("half", BoxShape{{-1.0, -1.0, -1.0}, {0.201, 1.0, 1.0}});
  mesh->define_region("other_half", BoxShape{{0.199, -1.0, -1.0}, {1.0, 1.0, 1.0}});
  DifferentiableScene scene(mesh, {material("neo_hookean", "half"), material("st_venant_kirchhoff", "other_half")});
  for (const Matrix& F : deformations()) {
    const State state = moved(scene, F);
    const std::vector<double> stresses = scene.cell_stresses(1, state), strains = scene.cell_strains(state);
    ASSERT_EQ(stresses.size(), 9 * static_cast<std::size_t>(mesh->num_cells()));
    ASSERT_EQ(strains.size(), stresses.size());
    for (const int cell : mesh->region("half").cells)
      expect_cell(stresses, cell, cauchy_stress("neo_hookean", F), 1e-6);
    for (const int cell : mesh->region("other_half").cells)
      expect_cell(stresses, cell, cauchy_stress("st_venant_kirchhoff", F), 1e-6);
    for (int cell = 0; cell < mesh->num_cells(); ++cell)
      expect_cell(strains, cell, 0.5 * (transpose(F) * F - Matrix::identity()), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(sensor, Stresses, testing::Values(1, 2));

TEST(sensor, stresses_of_affine_bodies_are_those_of_the_law_and_rigid_bodies_have_none) {
  const TriangleMesh surface{{{0.0, 0.0, 0.0}, {0.3, 0.0, 0.0}, {0.0, 0.2, 0.0}, {0.0, 0.0, 0.4}},
                             {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  std::vector<Body> bodies{{"soft", affine_body(MPI_COMM_WORLD, surface), {material("st_venant_kirchhoff", "all")}},
                           {"rigid",
                            affine_body(MPI_COMM_WORLD, surface),
                            {{"rigid", {{"density", 700.0}}, "all"}},
                            {.translate = {1, 0, 0}}}};
  DifferentiableScene scene(MPI_COMM_WORLD, std::move(bodies));
  const TetrahedralMesh& mesh = *scene.mesh();
  const Matrix F = deformations()[1];
  const State state = moved(scene, F);
  const std::vector<double> stresses = scene.cell_stresses(1, state);
  for (const int cell : mesh.region("soft/all").cells)
    expect_cell(stresses, cell, cauchy_stress("st_venant_kirchhoff", F), 1e-6);
  const auto value = [&](SensorQuantity quantity) {
    return scene.sensor({.quantity = quantity, .place = {.region = "soft/all"}})->value(1, state);
  };
  const Matrix sigma = cauchy_stress("st_venant_kirchhoff", F);
  const std::vector<double> mean = value(SensorQuantity::stress);
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(mean[static_cast<std::size_t>(c)], sigma(c, c), 1e-6);
  EXPECT_NEAR(value(SensorQuantity::volume).at(0), determinant(F) * 0.3 * 0.2 * 0.4 / 6.0, 1e-15);
  const Matrix dev = sigma - (trace(sigma) / 3.0) * Matrix::identity();
  EXPECT_NEAR(value(SensorQuantity::von_mises).at(0), std::sqrt(1.5 * inner(dev, dev)), 1e-6);
  for (const SensorQuantity quantity : {SensorQuantity::stress, SensorQuantity::volume, SensorQuantity::von_mises}) {
    SCOPED_TRACE(type_of(quantity).name);
    const auto sensor = scene.sensor({.quantity = quantity, .place = {.region = "soft/all"}});
    testing_sensor::SensorRig(scene, *sensor, 1, moved(scene, F)).expect_all_derivatives({{"positions", 1e-3}});
  }
  for (const int cell : mesh.region("rigid/all").cells)
    for (std::size_t k = 0; k < 9; ++k) EXPECT_TRUE(std::isnan(stresses.at(9 * static_cast<std::size_t>(cell) + k)));
}

/// Returns the sum of vectors [n, 3] over all ranks.
std::array<double, 3> sum_of(const std::vector<double>& vectors) {
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < vectors.size(); ++i) sum[i % 3] += vectors[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Returns a sheet of triangles at the height y, [0.03, 0.37] × [0.02, 0.08], whose normals point down.
TriangleMesh sheet_at(double y, int cells) {
  TriangleMesh sheet;
  for (int i = 0; i <= cells; ++i)
    for (const double z : {0.02, 0.08}) sheet.vertices.push_back({0.03 + 0.34 * i / cells, y, z});
  for (int i = 0; i < 2 * cells; i += 2)
    sheet.triangles.insert(sheet.triangles.end(), {{i, i + 2, i + 1}, {i + 1, i + 2, i + 3}});
  return sheet;
}

class Forces : public testing::TestWithParam<bool> {};

// With a separate contact surface, the forces act on the vertices of the cells that contain points of this surface; the
// vertices may be owned by several ranks.
TEST_P(Forces, of_vertices_add_up_to_the_forces_of_bodies_and_regions) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {4, 2, 1});
  DifferentiableScene scene(mesh, {material("neo_hookean", "all")}, {.gravity = {0.5, -9.8, 1.5}});
  scene.fix("x_min", {true, true, false});
  ContactOptions options{.barrier_distance = 0.02,
                         .barrier_stiffness = 1e4,
                         .friction = 0.4,
                         .self = false,
                         .planes = {{.point = {0.0, -0.01, 0.0}, .label = "floor"}},
                         .meshes = {{.mesh = sheet_at(-0.008, 3), .label = "sheet"}}};
  if (GetParam()) options.surfaces = {{"body", sheet_at(0.004, 11)}};
  scene.add_contact(options);
  State state = scene.initial_state();
  scene.model().prepare();
  std::vector<double> v = state["velocities"].to_host();
  for (std::size_t i = 0; i < v.size(); i += 3) v[i] = 0.1;
  state["velocities"].from_host(v);

  const std::vector<double> contact = scene.vertex_contact_forces(1, state);
  ASSERT_EQ(contact.size(), 3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
  for (std::size_t i = 0; i < contact.size(); ++i)
    if (mesh->rest_positions()[3 * (i / 3) + 1] > 0.15) {
      EXPECT_EQ(contact[i], 0.0);
    }
  const std::vector<ContactForce> forces = scene.contact_forces(1, state);
  ASSERT_EQ(forces.size(), 2u);
  for (const ContactForce& of : forces) {
    EXPECT_GT(of.force[1], 0.1);
    EXPECT_LT(of.force[0], -0.01);
  }
  const std::array<double, 3> sum = sum_of(contact);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(sum[c], forces[0].force[c] + forces[1].force[c], 1e-10 * forces[0].force[1]);

  const std::vector<double> reactions = scene.vertex_reactions(1, state);
  ASSERT_EQ(reactions.size(), contact.size());
  for (std::size_t i = 0; i < reactions.size(); ++i)
    if (mesh->rest_positions()[3 * (i / 3)] > 0.05 || i % 3 == 2) {
      EXPECT_EQ(reactions[i], 0.0);
    }
  const std::vector<double> whole =
      scene.sensor({.quantity = SensorQuantity::reaction, .place = {.region = "x_min"}})->value(1, state);
  EXPECT_GT(std::abs(whole[1]), 0.1);
  const std::array<double, 3> reaction = sum_of(reactions);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(reaction[c], whole[c], 1e-10 * std::abs(whole[1]));
}

INSTANTIATE_TEST_SUITE_P(sensor, Forces, testing::Bool());

}  // namespace
}  // namespace diffsim::cell_stress_test
