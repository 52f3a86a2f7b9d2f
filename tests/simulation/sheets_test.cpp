// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Cloth, fabrics and shells: gradients with respect to every parameter with every integrator.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "diffsim/simulation/simulator.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/parameter_specs.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::sheets_test {
namespace {

struct Case {
  const char *kind, *law, *integrator;

  std::vector<std::string> parameters() const {
    std::vector<std::string> names;
    for (const ParameterSpec& spec : find_cell_model(kind)->parameters) names.emplace_back(spec.name);
    return names;
  }
};

/// Scene of a slightly bent sheet of 24 triangles that hangs from two corners.
DifferentiableScene make_sheet(const Case& of, MPI_Comm comm) {
  MeshData data = testing_mesh::grid_of_triangles({4, 3}, {0.4, 0.3}, 0.0);
  const bool is_woven = of.kind == std::string("fabric");
  const double tilt = is_woven ? 0.4 : 0.0;  // the warp then depends on every component of its direction
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    double* const x = &data.coordinates[i];
    x[2] = 0.05 * std::sin(9.0 * x[0] + 4.0 * x[1]) + 0.2 * x[1] * x[1] + tilt * x[0];
  }
  auto mesh = std::make_shared<TetrahedralMesh>(comm, testing_mesh::whole_on_first_rank(comm, std::move(data)));
  mesh->define_region("corners", VertexList{{0, 4}});
  DifferentiableSolver options{.dt = 0.004,
                               .substeps = 2,
                               .damping = 0.99,
                               .gravity = {0.3, -4.8, -9.4},
                               .integrator = integrator_named(of.integrator)};
  testing_gradient::solve_to_rounding(options);
  DifferentiableMaterial material(of.kind, {}, "all", false, of.law);
  for (const std::string& name : of.parameters()) material.values[name] = find_parameter_spec(name)->sample;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("corners");
  if (is_woven) {
    // The initial velocities stretch the threads into the barrier below their strain limit.
    std::vector<double> v(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::array{4.0, 3.0, 0.0}[i % 3] * mesh->rest_positions()[i];
    solver.set_initial_velocity(v);
  }
  return solver;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& [kind, law] : {std::array{"cloth", ""}, {"fabric", ""}, {"shell", ""}, {"shell", "neo_hookean"}})
    for (const char* const integrator : {"symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2", "newmark"})
      cases.push_back({kind, law, integrator});
  return cases;
}

class Sheet : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(all, Sheet, ::testing::ValuesIn(all_cases()), [](const auto& test) {
  const Case& of = test.param;
  return std::string(of.law) + (*of.law ? "_" : "") + of.kind + "_" + of.integrator;
});

TEST_P(Sheet, gradients_have_the_slopes_that_differences_have) {
  const Case of = GetParam();
  std::vector<std::string> names = of.parameters();
  names.insert(names.end(), {"gravity", "rest_positions", "initial_positions", "initial_velocities"});
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_sheet(of, comm); }, 12, names);
}

TEST_P(Sheet, derivatives_pass_the_check) {
  DifferentiableScene solver = make_sheet(GetParam(), MPI_COMM_WORLD);
  solver.mesh()->define_region("hem", VertexList{{15, 16, 17, 18, 19}});
  testing_simulation::expect_checked(solver, {"hem", {0.3, 0.2, 0.1}, 6},
                                     testing_simulation::unknowns_of(GetParam().parameters(), {}));
}

TEST_P(Sheet, products_with_the_hessian) {
  DifferentiableScene solver = make_sheet(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(GetParam().parameters(), {}));
}

/// Message with which a material is refused, or an empty string if the material is accepted.
std::string refusal_of(const MeshData& data, DifferentiableMaterial material, const std::vector<std::string>& values) {
  auto mesh =
      std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, testing_mesh::whole_on_first_rank(MPI_COMM_WORLD, data));
  for (const std::string& name : values) material.values[name] = find_parameter_spec(name)->sample;
  try {
    DifferentiableScene(mesh, {material}, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SheetLaws, are_refused_where_a_model_does_not_have_them) {
  const MeshData data = testing_mesh::grid_of_triangles({2, 2}, {0.4, 0.3}, 0.0);
  const auto refusal = [&](const Case& of) {
    return refusal_of(data, {of.kind, {}, "all", false, of.law}, of.parameters());
  };
  EXPECT_EQ(refusal({"shell", "neo_hookean", ""}), "");
  EXPECT_EQ(refusal({"shell", "ogden_1", ""}),
            "a body of kind shell has no law 'ogden_1'; name one of: st_venant_kirchhoff, neo_hookean");
  EXPECT_EQ(refusal({"cloth", "neo_hookean", ""}), "a body of kind cloth has no law 'neo_hookean'; omit the law");
}

}  // namespace
}  // namespace diffsim::sheets_test
