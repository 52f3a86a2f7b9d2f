// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/candidates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "contact/distance.hpp"
#include "core/file_order.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"

namespace diffsim::contact::candidates_test {
namespace {

struct Pairs {
  std::int64_t point_triangle, edge_edge;
  bool operator==(const Pairs&) const = default;
};

/// Returns the file's numbers of the points whose owner has no triangle at the point. Collective.
std::vector<std::int64_t> lone_points(const TetrahedralMesh& mesh) {
  std::vector<char> has_triangle(static_cast<std::size_t>(mesh.num_vertices()), 0);
  for (const SurfacePiece& piece : surface_pieces(mesh))
    for (const int v : piece) has_triangle[static_cast<std::size_t>(v)] = 1;
  std::vector<int> is_lone(static_cast<std::size_t>(mesh.num_global_vertices()), 0);
  for (const int v : surface_areas(mesh).vertices)
    if (has_triangle[static_cast<std::size_t>(v)] == 0)
      is_lone[static_cast<std::size_t>(mesh.vertex_order().file_index()[static_cast<std::size_t>(v)])] = 1;
  MPI_Allreduce(MPI_IN_PLACE, is_lone.data(), static_cast<int>(is_lone.size()), MPI_INT, MPI_MAX, mesh.comm());
  std::vector<std::int64_t> numbers;
  for (std::size_t v = 0; v < is_lone.size(); ++v)
    if (is_lone[v] != 0) numbers.push_back(static_cast<std::int64_t>(v));
  return numbers;
}

/// Returns the numbers of pairs that all ranks find together. Each vertex of a box of bricks is displaced by up to
/// `way` bricks, equally on any number of ranks. Collective.
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
  if (num_ranks(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank is what others are compared with";
  for (const std::array<int, 3> bricks : {std::array{3, 2, 2}, {4, 2, 1}, {6, 4, 4}})
    for (unsigned seed = 0; seed < 3; ++seed)
      for (const double way : {0.0, 0.5, 3.0}) {
        const Pairs found = num_pairs(MPI_COMM_WORLD, bricks, seed, way, 0.05),
                    expected = num_pairs(MPI_COMM_SELF, bricks, seed, way, 0.05);
        EXPECT_EQ(found.point_triangle, expected.point_triangle) << bricks[0] << ' ' << seed << ' ' << way;
        EXPECT_EQ(found.edge_edge, expected.edge_edge);
      }
}

/// Returns the number of point–triangle pairs if one vertex of a box of bricks is moved to 2 cm outside the face at the
/// other end of the box. Collective.
std::int64_t num_pairs_at_other_end(MPI_Comm comm, std::array<int, 3> bricks, std::int64_t number) {
  const auto mesh = TetrahedralMesh::box(comm, {1.0 * bricks[0], 1.0 * bricks[1], 1.0 * bricks[2]}, bricks);
  Candidates candidates(*mesh, true, {}, {}, {}, 1 << 28);
  Field rest("rest", mesh->vertex_entities(), 3), moved = rest.like("moved");
  std::vector<double> x = mesh->rest_positions();
  rest.from_host(x);
  for (std::size_t v = 0; v < x.size() / 3; ++v) {
    if (mesh->vertex_order().file_index()[v] != number) continue;
    const double place[3] = {x[3 * v] < 0.5 * bricks[0] ? bricks[0] + 0.02 : -0.02, 0.3, 0.2};
    std::copy(place, place + 3, &x[3 * v]);
  }
  moved.from_host(x);
  candidates.set_rest(RestAreas(*mesh).areas(rest), rest, Vectors());
  candidates.cover(moved, Vectors(), moved, Vectors(), 0.05);
  return sum_over_ranks(static_cast<std::int64_t>(candidates.pairs().point_triangle.size()), comm);
}

TEST(candidates, of_points_without_a_triangle_of_their_rank_are_found) {
  int points = 0;
  for (const std::array<int, 3> bricks : {std::array{3, 2, 2}, {4, 2, 1}, {6, 2, 3}, {6, 4, 4}}) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0 * bricks[0], 1.0 * bricks[1], 1.0 * bricks[2]}, bricks);
    for (const std::int64_t number : lone_points(*mesh)) {
      ++points;
      const std::int64_t expected = num_pairs_at_other_end(MPI_COMM_SELF, bricks, number);
      EXPECT_GT(expected, 0);
      EXPECT_EQ(num_pairs_at_other_end(MPI_COMM_WORLD, bricks, number), expected) << bricks[0] << ' ' << number;
    }
  }
  if (num_ranks(MPI_COMM_WORLD) == 5) {
    EXPECT_GT(points, 0);  // otherwise these boxes do not cover the case of lone points
  }
}

/// Returns the numbers of listed point–triangle and edge–edge pairs that are nearer than `range` at x.
Pairs num_near(const Candidates& candidates, const std::vector<double>& x, double range) {
  const PairView& pairs = candidates.pairs();
  const auto point_triangle = host_view(pairs.point_triangle), edge_edge = host_view(pairs.edge_edge);
  const auto points = host_view(pairs.points), triangles = host_view(pairs.triangles), edges = host_view(pairs.edges);
  const auto at = [&](int v) {
    const std::size_t i = 3 * static_cast<std::size_t>(v);
    return Vec3<double>{{x[i], x[i + 1], x[i + 2]}};
  };
  Pairs near{0, 0};
  for (std::size_t i = 0; i < pairs.point_triangle.size(); ++i) {
    const auto q = static_cast<std::size_t>(point_triangle(i).query),
               t = 3 * static_cast<std::size_t>(point_triangle(i).leaf);
    const Vec3<double> corners[4] = {at(points(q)), at(triangles(t)), at(triangles(t + 1)), at(triangles(t + 2))};
    near.point_triangle += point_triangle_distance(corners).squared < range * range;
  }
  for (std::size_t i = 0; i < pairs.edge_edge.size(); ++i) {
    const auto a = 2 * static_cast<std::size_t>(edge_edge(i).query),
               b = 2 * static_cast<std::size_t>(edge_edge(i).leaf);
    const Vec3<double> ends[4] = {at(edges(a)), at(edges(a + 1)), at(edges(b)), at(edges(b + 1))};
    near.edge_edge += edge_edge_distance(ends).squared < range * range;
  }
  return near;
}

/// Greatest displacement of vertices along which lists are made: short, or long enough for distant primitives to meet.
class SweptBoxes : public testing::TestWithParam<double> {};

TEST_P(SweptBoxes, serve_wherever_vertices_are_in_them) {
  constexpr double range = 0.2;
  const auto mesh = TetrahedralMesh::box(MPI_COMM_SELF, {4.0, 3.0, 2.0}, {4, 3, 2});
  const std::vector<double> rest = mesh->rest_positions();
  std::mt19937 random(7);
  const auto astray = [&](const std::vector<double>& from, double way) {
    std::vector<double> x = from;
    for (double& value : x) value += std::uniform_real_distribution<double>(-way, way)(random);
    return x;
  };
  Field a("a", mesh->vertex_entities(), 3), b = a.like("b"), c = a.like("c");
  a.from_host(rest);
  Candidates kept(*mesh, true, {}, {}, {}, 1 << 28), fresh(*mesh, true, {}, {}, {}, 1 << 28);
  for (Candidates* candidates : {&kept, &fresh}) candidates->set_rest(RestAreas(*mesh).areas(a), a, Vectors());
  const std::vector<double> from = astray(rest, 1.5), to = astray(from, GetParam());
  a.from_host(from);
  b.from_host(to);
  kept.cover(a, Vectors(), b, Vectors(), range);
  const auto listed = kept.pairs().edge_edge.size();
  for (int trial = 0; trial < 100; ++trial) {
    // Positions at or near corners of the vertices' swept boxes, which are widened by half the range.
    std::vector<double> x(from.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool first = random() % 2 == 0;
      const double outward = (first == (from[i] < to[i]) ? -0.499 : 0.499) * range;
      x[i] = (first ? from[i] : to[i]) + (random() % 16 == 0 ? 0.0 : outward);
    }
    c.from_host(x);
    const int rebuilds = kept.rebuilds();
    kept.cover(c, Vectors(), c, Vectors(), range);
    ASSERT_EQ(kept.rebuilds(), rebuilds);
    fresh.cover(c, Vectors(), c, Vectors(), range);
    const Pairs expected = num_near(fresh, x, range);
    EXPECT_GT(expected.point_triangle + expected.edge_edge, 10);
    EXPECT_EQ(num_near(kept, x, range), expected);
  }
  EXPECT_GT(listed, 0u);
}

INSTANTIATE_TEST_SUITE_P(candidates, SweptBoxes, testing::Values(0.05, 1.0));

TEST(candidates, leave_out_pairs_whose_boxes_overlap_but_that_stay_far_apart) {
  // The long diagonals of bricks have boxes that overlap those of edges one brick away.
  const auto mesh = TetrahedralMesh::box(MPI_COMM_SELF, {4.0, 4.0, 0.5}, {4, 4, 1});
  Field rest("rest", mesh->vertex_entities(), 3);
  rest.from_host(mesh->rest_positions());
  Candidates candidates(*mesh, true, {}, {}, {}, 1 << 28);
  candidates.set_rest(RestAreas(*mesh).areas(rest), rest, Vectors());
  constexpr double range = 0.01;
  candidates.cover(rest, Vectors(), rest, Vectors(), range);
  const double reach = (1.0 + std::sqrt(3.0)) * range;
  const Pairs within = num_near(candidates, mesh->rest_positions(), reach * (1.0 + 1e-9));
  EXPECT_EQ(within.edge_edge, static_cast<std::int64_t>(candidates.pairs().edge_edge.size()));
  EXPECT_EQ(within.point_triangle, static_cast<std::int64_t>(candidates.pairs().point_triangle.size()));
}

}  // namespace
}  // namespace diffsim::contact::candidates_test
