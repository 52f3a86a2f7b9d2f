// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Balance of the computational work over the ranks in scenes of several bodies that a program creates.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/file_order.hpp"
#include "mesh/bodies.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::body_work_test {
namespace {

using namespace testing_mesh;
using namespace testing_simulation;

const DifferentiableMaterial solid{"neo_hookean",
                                   {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}};
const DifferentiableMaterial shell{"shell",
                                   {{"shell_youngs_modulus", 1e7},
                                    {"shell_poisson_ratio", 0.3},
                                    {"shell_thickness", 1e-3},
                                    {"shell_density", 1000.0}}};

/// Work of this rank, relative to the mean of all ranks. `work`: work of each body's cells.
double part_of_work(const TetrahedralMesh& mesh, const std::vector<CellWork>& work) {
  const auto of_cell = [&](CellKind kind, int cell) {
    const std::int64_t number = mesh.cell_order(kind).file_index()[static_cast<std::size_t>(cell)];
    return work[static_cast<std::size_t>(body_of_cell(mesh.bodies(), number, kind))];
  };
  double sum = 0.0;
  for (int cell = 0; cell < mesh.num_cells(); ++cell) sum += of_cell(CellKind::tetrahedron, cell).cell;
  for (const Face& face : mesh.boundary()) sum += of_cell(CellKind::tetrahedron, face.cell).face;
  const int triangles = static_cast<int>(mesh.cell_order(CellKind::triangle).file_index().size());
  for (int cell = 0; cell < triangles; ++cell)
    sum += of_cell(CellKind::triangle, cell).cell + of_cell(CellKind::triangle, cell).face;
  return sum * num_ranks(mesh.comm()) / sum_over_ranks(sum, mesh.comm());
}

/// Thin plate and thick block of nearly as many tetrahedra, and a sheet of triangles between them in the file.
std::vector<Body> plate_sheet_and_block(bool has_contact) {
  const BodyBox plate{"plate", {1.0, 1.0, 0.02}, {20, 20, 1}}, block{"block", {0.5, 0.5, 0.5}, {8, 7, 7}, {0, 0, 1}};
  MeshData sheet = whole_on_first_rank(MPI_COMM_WORLD, grid_of_triangles({12, 10}, {1.0, 1.0}, 2.0));
  std::vector<Body> bodies;
  bodies.push_back({"plate", box_body(MPI_COMM_WORLD, plate), {solid}, {}, has_contact});
  bodies.push_back({"sheet", std::move(sheet), {shell}, {}, has_contact});
  bodies.push_back({"block", box_body(MPI_COMM_WORLD, block), {solid}, {}, has_contact});
  return bodies;
}

TEST(BodyWork, the_work_of_a_model_is_that_of_its_cells_and_of_contact) {
  const double per_triangle = find_cell_model("shell")->work;
  EXPECT_GT(per_triangle, 1.0);
  EXPECT_EQ(work_of_model("shell", Integrator::velocity_verlet, false), (CellWork{per_triangle, 0.0}));
  for (const char* const model : {"", "rigid", "neo_hookean"})
    EXPECT_EQ(work_of_model(model, Integrator::velocity_verlet, false), CellWork{}) << model;
  const double explicit_contact = work_of_model("", Integrator::velocity_verlet, true).face;
  const double implicit_contact = work_of_model("", Integrator::bdf2, true).face;
  EXPECT_GT(implicit_contact, 0.0);
  EXPECT_GT(explicit_contact, implicit_contact);
  expect_refused([&] { work_of_model("shel", Integrator::bdf2, true); },
                 {"unknown material model 'shel'", "neo_hookean", "shell"});
}

TEST(BodyWork, scenes_balance_the_work_of_cells) {
  const DifferentiableScene scene(MPI_COMM_WORLD, plate_sheet_and_block(false), {});
  const CellWork of_sheet{find_cell_model("shell")->work, 0.0};
  EXPECT_NEAR(part_of_work(*scene.mesh(), {CellWork{}, of_sheet, CellWork{}}), 1.0, 0.1);
}

TEST(BodyWork, scenes_balance_the_work_of_contact) {
  const DifferentiableScene scene(MPI_COMM_WORLD, plate_sheet_and_block(true), {});
  const double face = work_of_model("", Integrator::symplectic_euler, true).face;
  const CellWork of_sheet{find_cell_model("shell")->work, face}, of_solid{1.0, face};
  EXPECT_NEAR(part_of_work(*scene.mesh(), {of_solid, of_sheet, of_solid}), 1.0, 0.1);
}

TEST(BodyWork, scenes_keep_the_work_that_a_program_sets) {
  std::vector<Body> bodies = plate_sheet_and_block(true);
  const CellWork own{7.0, 3.0};
  bodies.back().mesh.work = own;
  const DifferentiableScene scene(MPI_COMM_WORLD, std::move(bodies), {});
  ASSERT_EQ(scene.mesh()->bodies().size(), 3u);
  EXPECT_EQ(scene.mesh()->bodies()[0].work, work_of_model("neo_hookean", Integrator::symplectic_euler, true));
  EXPECT_EQ(scene.mesh()->bodies()[1].work, work_of_model("shell", Integrator::symplectic_euler, true));
  EXPECT_EQ(scene.mesh()->bodies()[2].work, own);
  EXPECT_NEAR(part_of_work(*scene.mesh(), {scene.mesh()->bodies()[0].work, scene.mesh()->bodies()[1].work, own}), 1.0,
              0.1);
}

}  // namespace
}  // namespace diffsim::body_work_test
