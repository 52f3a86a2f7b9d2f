// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A body of two equal materials behaves as a body of one material, also on ranks without cells of one of the materials.

#include <gtest/gtest.h>

#include "diffsim/mesh/construction.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::material_regions_test {
namespace {

constexpr std::int64_t cells_of_corner = 3;

/// Box whose first cells are the region `corner`; the other cells are the region `rest`.
std::shared_ptr<TetrahedralMesh> make_mesh() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MeshData data = box_mesh({1.0, 0.5, 0.5}, {5, 3, 3}, rank, ranks);
  const auto corner = static_cast<std::int32_t>(data.regions.size());
  data.regions.push_back({"corner", 3, 101});
  data.regions.push_back({"rest", 3, 102});
  for (std::int64_t cell = data.first_cell; cell < data.first_cell + data.block_cells(); ++cell)
    data.cell_regions.push_back({cell, cell < cells_of_corner ? corner : corner + 1});
  std::sort(data.cell_regions.begin(), data.cell_regions.end(),
            [](const auto& a, const auto& b) { return std::pair(a.region, a.cell) < std::pair(b.region, b.cell); });
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, std::move(data));
}

/// Elastic energy of the body stretched by the factor 1 + 0.1 x, J.
double energy(const std::vector<std::string>& regions) {
  const auto mesh = make_mesh();
  std::vector<DifferentiableMaterial> materials;
  for (const std::string& region : regions)
    materials.push_back({"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}}, region});
  DifferentiableScene solver(mesh, materials, {.dt = 1e-3, .substeps = 1, .gravity = {0.0, 0.0, 0.0}});
  solver.model().prepare();
  State state = solver.initial_state();
  std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] *= 1.0 + 0.1 * x[i];
  state["positions"].from_host(x);
  return solver.system().potential_energy(state, 0);
}

TEST(material_regions, two_alike_are_one) {
  const double one = energy({"all"});
  EXPECT_GT(one, 0.0);
  EXPECT_NEAR(energy({"corner", "rest"}), one, 1e-12 * one);
}

TEST(material_regions, solids_name_their_law_as_the_model) {
  const DifferentiableMaterial material("neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}}, "all", false,
                                        "st_venant_kirchhoff");
  try {
    DifferentiableScene(make_mesh(), {material}, {});
    FAIL() << "a solid with a second law is accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "material neo_hookean has no selectable laws; remove law 'st_venant_kirchhoff'");
  }
}

TEST(material_regions, laws_need_a_positive_shear_modulus_in_each_cell) {
  const auto error_of = [](const std::string& law, const std::map<std::string, CellValues>& values) -> std::string {
    try {
      DifferentiableScene(
          make_mesh(),
          {{"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}}, "rest"}, {law, values, "corner"}}, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return {};
  };
  const auto of_mooney_rivlin = [&](double c01) {
    return error_of("mooney_rivlin", {{"c10", 1e3}, {"c01", c01}, {"bulk_modulus", 1e4}});
  };
  EXPECT_EQ(of_mooney_rivlin(-900.0), "");
  const std::string mooney_rivlin = of_mooney_rivlin(-1000.0);
  for (const char* part : {"material mooney_rivlin in cell ", ": c10 + c01, half the shear modulus, is 0.000000 Pa"})
    EXPECT_NE(mooney_rivlin.find(part), std::string::npos) << mooney_rivlin;

  const auto of_ogden = [&](double mu_2) {
    return error_of("ogden_2",
                    {{"mu_1", 1e3}, {"alpha_1", 2.0}, {"mu_2", mu_2}, {"alpha_2", -2.0}, {"bulk_modulus", 1e4}});
  };
  EXPECT_EQ(of_ogden(500.0), "");
  const std::string ogden = of_ogden(1500.0);
  for (const char* part : {"material ogden_2 in cell ", "half the sum of mu_p alpha_p, is -500.000000 Pa"})
    EXPECT_NE(ogden.find(part), std::string::npos) << ogden;
}

}  // namespace
}  // namespace diffsim::material_regions_test
