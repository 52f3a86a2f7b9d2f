// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/parameter_table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "diffsim/simulation/simulator.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim::parameter_table_test {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ParameterTable, IsTheOneInTheDocumentation) {
  const std::string table = app::parameter_table();
  EXPECT_NE(text_of(DIFFSIM_SOURCE_DIR "/docs/scenes.md").find(table), std::string::npos)
      << "docs/scenes.md should have this table, as `diffsim --parameters` prints it:\n"
      << table;
}

TEST(ParameterTable, EveryParameterOfASolverHasItsSpec) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {2, 2, 2});
  DifferentiableMaterial muscle{"active_fibre",
                                {{"youngs_modulus", 1e4},
                                 {"poisson_ratio", 0.3},
                                 {"active_tension", 1.0},
                                 {"activation", 0.5},
                                 {"fibre_x", 1.0},
                                 {"fibre_y", 0.0},
                                 {"fibre_z", 0.0},
                                 {"viscosity", 1.0},
                                 {"drag", 1.0}},
                                "all"};
  DifferentiableScene solver(mesh, {muscle}, {});
  solver.add_traction("x_max", {1.0, 0.0, 0.0});
  solver.add_nodal_load(std::vector<double>(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0));
  solver.move("x_min", {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {0.0}, {0.0, 0.0, 0.0});
  ContactOptions contact;
  contact.barrier_distance = 0.01;
  contact.barrier_stiffness = 1e4;
  contact.law = ContactLawKind::penalty;
  PlaneObstacle floor;
  floor.label = "floor";
  floor.point = {0.0, -1.0, 0.0};
  floor.normal = {0.0, 1.0, 0.0};
  contact.planes.push_back(floor);
  floor.label = "ground";
  contact.planes.push_back(floor);
  contact.pairs.push_back({.between = {"body", "ground"}, .law = ContactLawKind::impact});
  solver.add_contact(contact);
  std::set<std::string> names;
  for (const Parameter& parameter : solver.parameters()) {
    names.insert(parameter.name());
    EXPECT_FALSE(parameter.spec.name.empty()) << parameter.name();
    const auto found = find_parameter_spec(parameter.name());
    ASSERT_TRUE(found) << parameter.name();
    EXPECT_EQ(found->name, parameter.spec.name);
    EXPECT_EQ(found->components, parameter.field.components()) << parameter.name();
    const bool is_global = found->home == ParameterHome::one;
    EXPECT_EQ(is_global, parameter.is_global()) << parameter.name();
    for (const double value : parameter.field.to_host()) EXPECT_EQ(range_error(*found, value), "") << parameter.name();
  }
  for (const char* name :
       {"viscosity", "bulk_viscosity", "drag", "rayleigh_damping", "activation_signal", "traction:x_max",
        "angular_velocity:x_min", "obstacle_velocity:floor", "friction", "contact_damping", "restitution"})
    EXPECT_EQ(names.count(name), 1u) << name;
}

}  // namespace
}  // namespace diffsim::parameter_table_test
