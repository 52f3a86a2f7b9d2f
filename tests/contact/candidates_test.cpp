// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/candidates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/mesh/box.hpp"

namespace diffsim::contact {
namespace {

struct Pairs {
  std::int64_t point_triangle, edge_edge;
  bool operator==(const Pairs&) const = default;
};

/// How many pairs all ranks find together in a box of bricks of which each vertex has gone astray by up to `way`
/// bricks, the same on any number of ranks. Collective.
Pairs num_pairs(MPI_Comm comm, std::array<int, 3> bricks, unsigned seed, double way, double range) {
  const auto mesh = TetrahedralMesh::box(comm, {1.0 * bricks[0], 1.0 * bricks[1], 1.0 * bricks[2]}, bricks);
  Candidates candidates(*mesh, true, {}, {}, {}, 1 << 28);
  Field rest("rest", mesh->vertex_entities(), 3), astray = rest.like("astray");
  std::vector<double> x = mesh->rest_positions();
  rest.from_host(x);
  for (std::size_t v = 0; v < x.size() / 3; ++v) {
    std::mt19937 random(seed + 1000 * static_cast<unsigned>(mesh->vertex_order().file_index()[v]));
    for (std::size_t c = 0; c < 3; ++c) x[3 * v + c] += std::uniform_real_distribution<double>(-way, way)(random);
  }
  astray.from_host(x);
  candidates.set_rest(RestAreas(*mesh).areas(rest), rest, Vectors());
  candidates.cover(astray, Vectors(), astray, Vectors(), range);
  const auto sum = [&](std::size_t count) { return sum_over_ranks(static_cast<std::int64_t>(count), comm); };
  return {sum(candidates.pairs().point_triangle.size()), sum(candidates.pairs().edge_edge.size())};
}

TEST(candidates, are_the_same_on_any_number_of_ranks) {
  for (const std::array<int, 3> bricks : {std::array{3, 2, 2}, {4, 2, 1}, {6, 4, 4}})
    for (unsigned seed = 0; seed < 3; ++seed)
      for (const double way : {0.0, 0.5, 3.0}) {
        const Pairs found = num_pairs(MPI_COMM_WORLD, bricks, seed, way, 0.05),
                    expected = num_pairs(MPI_COMM_SELF, bricks, seed, way, 0.05);
        EXPECT_EQ(found.point_triangle, expected.point_triangle) << bricks[0] << ' ' << seed << ' ' << way;
        EXPECT_EQ(found.edge_edge, expected.edge_edge);
      }
}

}  // namespace
}  // namespace diffsim::contact
