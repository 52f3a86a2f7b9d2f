// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/surface_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/term_derivatives.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/body_meshes.hpp"

namespace diffsim::surface_flow_test {
namespace {

using testing_term::TermRig;

std::vector<Face> triangles_of(const TetrahedralMesh& mesh) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::triangle);
  std::vector<Face> faces;
  for (std::size_t t = 0; t < all.vertices.size(); t += 3)
    faces.push_back({static_cast<int>(t / 3), {all.vertices[t], all.vertices[t + 1], all.vertices[t + 2]}});
  return faces;
}

std::shared_ptr<TetrahedralMesh> sheet() {
  MeshData data = testing_mesh::grid_of_triangles({4, 3}, {2.0, 1.5}, 0.0);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3)
    data.coordinates[i + 2] = 0.2 * std::sin(2.0 * data.coordinates[i]);
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD,
                                           testing_mesh::whole_on_first_rank(MPI_COMM_WORLD, std::move(data)));
}

/// Returns the sum of the forces on the whole mesh.
std::array<double, 3> total_force(const TetrahedralMesh& mesh, ForceTerm& term, ParameterSet& parameters,
                                  const std::vector<double>& velocities) {
  Field x("x", mesh.vertex_entities(), 3), v("v", mesh.vertex_entities(), 3), f("f", mesh.vertex_entities(), 3);
  x.from_host(mesh.rest_positions());
  v.from_host(velocities);
  term.prepare(parameters);
  term.add_force({x, 0, nullptr, &v}, parameters, f);
  std::array<double, 3> sum{};
  const std::vector<double> forces = f.to_host();
  for (std::size_t i = 0; i < forces.size(); ++i) sum[i % 3] += forces[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

TEST(surface_pressure, derivatives) {
  const auto mesh = sheet();
  ParameterSet parameters;
  parameters.add("p", Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({3.0});
  const auto term = make_surface_pressure("p", triangles_of(*mesh));
  EXPECT_FALSE(term->has_energy());
  EXPECT_FALSE(term->has_symmetric_jacobian());
  TermRig(mesh, *term, parameters).expect_all_derivatives();
}

TEST(surface_pressure, pushes_against_the_normal_and_not_at_all_around_a_closed_surface) {
  const auto box = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {3, 2, 2});
  ParameterSet parameters;
  parameters.add("p", Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({50.0});
  const std::vector<double> at_rest(3 * static_cast<std::size_t>(box->num_vertices()), 0.0);
  const auto side = make_surface_pressure("p", box->faces("x_max"));
  const std::array<double, 3> on_side = total_force(*box, *side, parameters, at_rest);
  EXPECT_NEAR(on_side[0], -50.0 * 0.3 * 0.2, 1e-12);
  EXPECT_NEAR(on_side[1], 0.0, 1e-12);
  const auto whole = make_surface_pressure("p", box->boundary());
  for (const double f : total_force(*box, *whole, parameters, at_rest)) EXPECT_NEAR(f, 0.0, 1e-12);
}

TEST(wind, derivatives) {
  const auto mesh = sheet();
  ParameterSet parameters;
  const auto one = Entities::one_for_all(MPI_COMM_WORLD);
  parameters.add("wind", one, 3).field.from_host({2.0, 1.0, 9.0});
  parameters.add("drag", one).field.from_host({1.3});
  const auto term = make_wind("wind", "drag", triangles_of(*mesh));
  EXPECT_TRUE(term->uses_velocities());
  TermRig(mesh, *term, parameters).expect_all_derivatives();
}

TEST(wind, pushes_a_plate_with_half_its_drag_times_area_and_speed_squared) {
  const auto box = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {3, 2, 2});
  ParameterSet parameters;
  const auto one = Entities::one_for_all(MPI_COMM_WORLD);
  parameters.add("wind", one, 3).field.from_host({-3.0, 7.0, 0.0});
  parameters.add("drag", one).field.from_host({1.4});
  std::vector<double> velocities(3 * static_cast<std::size_t>(box->num_vertices()), 0.0);
  for (std::size_t i = 0; i < velocities.size(); i += 3) velocities[i] = 2.0;
  // The wind's component along the plate exerts no force, and the force is the same on both sides.
  for (const char* const side : {"x_max", "x_min"}) {
    const auto term = make_wind("wind", "drag", box->faces(side));
    const std::array<double, 3> force = total_force(*box, *term, parameters, velocities);
    EXPECT_NEAR(force[0], -0.5 * 1.4 * 0.3 * 0.2 * 25.0, 1e-12) << side;
    EXPECT_NEAR(force[1], 0.0, 1e-12) << side;
  }
}

TEST(surface_flow, acts_on_flat_faces) {
  const auto box = TetrahedralMesh::box(MPI_COMM_SELF, {1.0, 1.0, 1.0}, {1, 1, 1}, 2);
  EXPECT_THROW(make_surface_pressure("p", box->faces("x_max")), Error);
}

}  // namespace
}  // namespace diffsim::surface_flow_test
