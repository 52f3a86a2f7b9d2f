// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/plate_term.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/file_order.hpp"
#include "core/term_derivatives.hpp"
#include "mesh/body_meshes.hpp"
#include "shell/parameters.hpp"
#include "simulation/plate_meshes.hpp"

namespace diffsim::plate_term_test {
namespace {

using testing_term::TermRig;

constexpr int nx = 6, ny = 4;

/// Makes a curved sheet of triangles with random diagonals.
std::shared_ptr<TetrahedralMesh> sheet(testing_plate::Family family) {
  MeshData data = testing_plate::rectangle(family, nx, ny, 3.0 * nx, 3.0 * ny);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    double* const x = &data.coordinates[i];
    x[2] = std::sin(0.25 * x[0] + 0.15 * x[1]);
  }
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD,
                                           testing_mesh::whole_on_first_rank(MPI_COMM_WORLD, std::move(data)));
}

/// Returns the column and the row of a local vertex.
std::array<int, 2> place(const TetrahedralMesh& mesh, int vertex) {
  const auto number = static_cast<int>(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]);
  return {number % (nx + 1), number / (nx + 1)};
}

/// Support of the plate.
enum class Support { none, clamp, symmetry, wall };

VertexConstraints held_by(Support support, const TetrahedralMesh& mesh) {
  VertexConstraints held;
  for (int v = 0; v < mesh.num_vertices(); ++v) {
    const auto [i, j] = place(mesh, v);
    char clamped = 0;
    if (support == Support::clamp && (i == 0 || (i == 3 && j > 1))) clamped = VertexConstraints::in_wall;
    if (support == Support::symmetry)
      clamped = static_cast<char>((i == 0 ? 1 : 0) | (j == 0 ? 2 : 0) | (i == nx ? 1 : 0));
    held.clamped.push_back(clamped);
    held.positions.push_back(clamped == VertexConstraints::in_wall || (support == Support::wall && i < 2) ? 1 : 0);
  }
  return held;
}

using testing_plate::Family;
class PlateTerm : public ::testing::TestWithParam<std::tuple<Family, Support>> {};
INSTANTIATE_TEST_SUITE_P(all, PlateTerm,
                         ::testing::Combine(::testing::Values(Family::one_diagonal, Family::union_jack, Family::random),
                                            ::testing::Values(Support::none, Support::clamp, Support::symmetry,
                                                              Support::wall)));

TEST_P(PlateTerm, all_derivatives) {
  const auto mesh = sheet(std::get<Family>(GetParam()));
  const LowerCellSet& all = mesh->lower_cells(CellKind::triangle);
  std::vector<int> triangles(static_cast<std::size_t>(all.num()));
  std::iota(triangles.begin(), triangles.end(), 0);
  const auto term = make_plate_term(*mesh, triangles);
  term->set_constraints(held_by(std::get<Support>(GetParam()), *mesh));
  ParameterSet parameters;
  const auto add = [&](const ParameterSpec& spec, double value) {
    std::vector<double> values;
    for (const std::int64_t number : all.order->file_index())
      values.push_back(value * (1.0 + 0.2 * std::sin(static_cast<double>(number))));
    parameters.add(spec, all.entities).field.from_host(values);
  };
  add(ShellParameters::youngs_modulus, 12.0);
  add(ShellParameters::poisson_ratio, 0.3);
  add(ShellParameters::thickness, 1.1);
  add(ShellParameters::rest_curvature, 0.8);
  parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
  TermRig(mesh, *term, parameters).expect_all_derivatives({"rest_positions"});
}

}  // namespace
}  // namespace diffsim::plate_term_test
