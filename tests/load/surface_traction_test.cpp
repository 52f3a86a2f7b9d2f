// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/surface_traction.hpp"

#include <gtest/gtest.h>

#include <array>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::surface_traction_test {
namespace {

double over_ranks(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

class EveryOrder : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(traction, EveryOrder, testing::Values(1, 2));

TEST_P(EveryOrder, pulls_with_its_area_and_does_the_work_of_that) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {3, 3, 2}, GetParam());
  const std::array<double, 3> t{20.0, -10.0, 5.0};
  ParameterSet parameters;
  parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
  parameters.add("traction", Entities::one_for_all(MPI_COMM_WORLD), 3).field.from_host({t[0], t[1], t[2]});
  const std::unique_ptr<ForceTerm> term = make_surface_traction("traction", mesh->faces("x_max"));
  ForceTerm& traction = *term;
  traction.prepare(parameters);
  constexpr double area = 0.3 * 0.2;

  // Displacement d of the face; the work is t·d times the area.
  const std::array<double, 3> d{0.1, -0.2, 0.3};
  std::vector<double> moved = mesh->rest_positions();
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += d[i % 3];
  Field positions("positions", mesh->vertex_entities(), 3);
  positions.from_host(moved);
  const double work = area * (t[0] * d[0] + t[1] * d[1] + t[2] * d[2]);
  EXPECT_NEAR(-over_ranks(traction.energy({positions}, parameters)), work, 1e-13 * work);

  Field force = positions.like("force");
  traction.add_force({positions}, parameters, force);
  std::array<double, 3> sums{};
  const std::vector<double> shares = force.to_host();
  for (std::size_t i = 0; i < shares.size(); ++i) sums[i % 3] += shares[i];
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(over_ranks(sums[c]), area * t[c], 1e-14) << c;
}

}  // namespace
}  // namespace diffsim::surface_traction_test
