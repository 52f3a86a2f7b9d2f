// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of cloth and shells: a sheet on a plane, on a block of tetrahedra next to an obstacle of triangles, and on
// itself.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/thin_contact.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::sheet_contact_test {
namespace {

using testing_mesh::grid_of_triangles;
using testing_mesh::whole_on_first_rank;
using testing_thin::throw_down;

struct Case : testing_thin::ContactCase {
  std::string kind;
};

std::string name_of_case(const ::testing::TestParamInfo<Case>& of) { return of.param.kind + "_" + of.param.name(); }

/// Material of a sheet of 40 N/m. `bending`: stiffness of the hinges of cloth, N m. The bending stiffness of a shell
/// follows from its thickness.
DifferentiableMaterial material_of(const Case& of, const std::string& region, double bending = 1e-4) {
  if (of.kind == "shell")
    return {"shell",
            {{"shell_youngs_modulus", 1e4},
             {"shell_poisson_ratio", 0.25},
             {"shell_thickness", 0.004},
             {"shell_density", 200.0}},
            region};
  return {
      "cloth",
      {{"cloth_stiffness", 40.0}, {"cloth_poisson_ratio", 0.25}, {"cloth_bending", bending}, {"cloth_density", 0.8}},
      region};
}

/// Sheet of 12 triangles, 0.15 m by 0.1 m, with normals along -y. The sheet is rotated, so that its edges are far from
/// parallel to the edges of a block. For parallel edges, second derivatives of the mollified barrier jump.
MeshData sheet(MPI_Comm comm, double height) {
  MeshData data = grid_of_triangles({3, 2}, {0.15, 0.1}, 0.0);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    double* const x = &data.coordinates[i];
    const double u = x[0], w = x[1];
    x[0] = 0.95 * u - 0.31 * w + 0.023;
    x[1] = height + 0.02 * u + 0.004 * std::cos(40.0 * w);
    x[2] = 0.31 * u + 0.95 * w - 0.012;
  }
  return whole_on_first_rank(comm, std::move(data));
}

DifferentiableScene make_sheet_on_plane(const Case& of, MPI_Comm comm) {
  auto mesh = std::make_shared<TetrahedralMesh>(comm, sheet(comm, 0.003));
  DifferentiableScene solver(mesh, {material_of(of, "all")}, of.solver(0.002, 4));
  throw_down(solver, "all");
  ContactOptions contact = of.contact(0.012, of.stiffness());
  contact.planes.push_back({.point = {0.0, -0.004, 0.0}, .normal = {0.05, 1.0, 0.02}, .label = "floor"});
  solver.add_contact(contact);
  return solver;
}

/// Scene of a sheet that falls on a block. No pair starts at the barrier distance, where higher derivatives jump. A
/// patch next to the sheet is an obstacle, so the sheet has only some of the mesh's triangles.
DifferentiableScene make_sheet_on_block(const Case& of, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(
      {"block", testing_mesh::box_body(comm, {"block", {0.1, 0.05, 0.1}, {1, 1, 1}, {0.0237, -0.054, -0.0083}})});
  bodies.push_back({"patch", whole_on_first_rank(comm, grid_of_triangles({2, 1}, {0.1, 0.05}, 0.5))});
  bodies.push_back({"sheet", sheet(comm, 0.005)});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  const DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "block/all"};
  DifferentiableScene solver(mesh, {rubber, material_of(of, "sheet/all")}, of.solver(0.002, 4));
  solver.fix("block/y_min");
  throw_down(solver, "sheet/all");
  solver.add_contact(of.contact(0.012, of.stiffness()));
  return solver;
}

/// Scene of a strip folded like a hairpin, whose two halves fall towards each other.
DifferentiableScene make_fold(const Case& of, MPI_Comm comm) {
  const int n = 9;
  MeshData data = grid_of_triangles({n, 1}, {0.9, 0.1}, 0.0);
  const double pi = std::acos(-1.0), radius = 0.008, straight = 0.15;
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    double* const x = &data.coordinates[i];
    // Along the strip: a straight part, three chords of a half circle, and a straight part back.
    const double s = x[0] / 0.1 - 3.0;
    const double angle = pi * std::min(1.0, std::max(0.0, s / 3.0));
    const double before = straight * std::min(0.0, s / 3.0), after = straight * std::max(0.0, (s - 3.0) / 3.0);
    x[2] = x[1] + 0.0031 * std::max(0.0, s);
    x[0] = before - after + radius * std::sin(angle);
    x[1] = -radius * std::cos(angle);
  }
  auto mesh = std::make_shared<TetrahedralMesh>(comm, whole_on_first_rank(comm, std::move(data)));
  mesh->define_region("lower", VertexList{{0, 1, 2, 10, 11, 12}});
  DifferentiableScene solver(mesh, {material_of(of, "all", 1e-3)}, of.solver(0.001, 4));
  solver.fix("lower");
  throw_down(solver, "all");
  solver.add_contact(of.contact(0.012, of.stiffness()));
  return solver;
}

using Make = DifferentiableScene (*)(const Case&, MPI_Comm);

void expect_slopes(Make make_case, const Case& of, int num_steps, const std::vector<std::string>& more) {
  const auto make = [&](MPI_Comm comm) { return make_case(of, comm); };
  DifferentiableScene solver = make(MPI_COMM_WORLD);
  EXPECT_GT(testing_gradient::most_active_pairs(solver, num_steps), 2);
  std::vector<std::string> names{"barrier_distance", "barrier_stiffness", "initial_positions", "initial_velocities",
                                 "rest_positions"};
  // Nearly flat sheets hardly depend on the rest curvature: differences with respect to it consist of rounding errors.
  for (const ParameterSpec& spec : find_cell_model(of.kind)->parameters)
    if (spec.name != "shell_rest_curvature") names.emplace_back(spec.name);
  if (of.friction) names.insert(names.end(), {"friction", "friction_velocity"});
  if (of.thickness > 0.0) names.emplace_back("thickness");
  names.insert(names.end(), more.begin(), more.end());
  testing_gradient::expect_slopes(make, num_steps, names);
}

class SheetOnPlane : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, SheetOnPlane,
                         ::testing::Values(Case{{"symplectic_euler", false}, "cloth"},
                                           Case{{"velocity_verlet", true, 0.002}, "cloth"},
                                           Case{{"implicit_euler", true}, "cloth"},
                                           Case{{"symplectic_euler", true, 0.002}, "shell"},
                                           Case{{"bdf2", true}, "shell"}),
                         name_of_case);
TEST_P(SheetOnPlane, has_the_gradients_whose_slopes_differences_have) {
  expect_slopes(make_sheet_on_plane, GetParam(), 8, {"obstacle_position:floor"});
}

class SheetOnBlock : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, SheetOnBlock,
                         ::testing::Values(Case{{"velocity_verlet", true}, "cloth"},
                                           Case{{"implicit_euler", true, 0.002}, "cloth"},
                                           Case{{"symplectic_euler", true}, "shell"},
                                           Case{{"implicit_euler", true, 0.002}, "shell"}),
                         name_of_case);
TEST_P(SheetOnBlock, has_the_gradients_whose_slopes_differences_have) {
  expect_slopes(make_sheet_on_block, GetParam(), 8, {"youngs_modulus"});
}

class Fold : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, Fold,
                         ::testing::Values(Case{{"symplectic_euler", false}, "cloth"},
                                           Case{{"newmark", false, 0.002}, "cloth"},
                                           Case{{"velocity_verlet", false}, "shell"},
                                           Case{{"newmark", false, 0.002}, "shell"}),
                         name_of_case);
TEST_P(Fold, has_the_gradients_whose_slopes_differences_have) { expect_slopes(make_fold, GetParam(), 5, {}); }

}  // namespace
}  // namespace diffsim::sheet_contact_test
