// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>

namespace diffsim::contact::surface_test {
namespace {

double sum_over_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

class BoxSurface : public testing::TestWithParam<int> {};

TEST_P(BoxSurface, has_each_point_edge_and_triangle_once) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.5, 0.25}, {4, 3, 2}, GetParam());
  const Surface surface = mesh_surface(*mesh);
  const double points = sum_over_ranks(static_cast<double>(surface.points.size()));
  const double edges = sum_over_ranks(static_cast<double>(surface.edges.size()));
  const double triangles = sum_over_ranks(static_cast<double>(surface.triangles.size()));
  const int faces = 4 * (4 * 3 + 3 * 2 + 2 * 4);
  EXPECT_EQ(triangles, GetParam() == 1 ? faces : 4 * faces);
  EXPECT_EQ(edges, 1.5 * triangles);
  EXPECT_EQ(points - edges + triangles, 2.0);  // Euler characteristic of a sphere
  double area = 0.0;
  for (const double a : surface.point_areas) area += a;
  EXPECT_NEAR(sum_over_ranks(area), 2.0 * (0.5 + 0.125 + 0.25), 1e-12);
  double corners = 0.0;
  for (const SurfaceTriangle& triangle : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(triangle.edge_weights[k], -0.5);
      EXPECT_GT(triangle.corner_weights[k], 0.1);
      corners += triangle.corner_weights[k];
    }
  EXPECT_NEAR(sum_over_ranks(corners), points, 1e-10);  // the weights at each vertex sum to one
  for (const SurfaceEdge& edge : surface.edges) {
    EXPECT_LT(edge.ends[0].number, edge.ends[1].number);
    EXPECT_GT(edge.squared_length, 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(surface, BoxSurface, testing::Values(1, 2));

TEST(surface, of_open_triangles_counts_their_rim_once) {
  // A square of two triangles.
  const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}};
  const Surface surface = triangle_surface(mesh, 100);
  ASSERT_EQ(surface.triangles.size(), 2u);
  EXPECT_EQ(surface.edges.size(), 5u);
  EXPECT_EQ(surface.points.size(), 4u);
  EXPECT_EQ(surface.points[2].number, 102);
  const SurfaceTriangle& first = surface.triangles[0];
  EXPECT_EQ(first.edge_weights, (std::array<double, 3>{0.0, 0.0, -0.5}));
  EXPECT_EQ(first.corner_weights, (std::array<double, 3>{0.0, 0.0, 0.0}));
  EXPECT_NEAR(surface.point_areas[0], 1.0 / 3.0, 1e-15);
  EXPECT_NEAR(surface.point_areas[1], 1.0 / 6.0, 1e-15);
}

}  // namespace
}  // namespace diffsim::contact::surface_test
