// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/obstacles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact::obstacles_test {
namespace {

/// Returns the volume enclosed by a mesh with outward normals. Checks that every edge has two triangles.
double volume(const TriangleMesh& mesh) {
  const Surface surface = triangle_surface(mesh, 0);
  for (const SurfaceTriangle& triangle : surface.triangles)
    for (const double weight : triangle.edge_weights) EXPECT_EQ(weight, -0.5);
  double sum = 0.0;
  for (const auto& t : mesh.triangles) {
    Vec3<double> x[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& p = mesh.vertices[static_cast<std::size_t>(t[k])];
      x[k] = {{p[0], p[1], p[2]}};
    }
    sum += dot(x[0], cross(x[1], x[2])) / 6.0;
  }
  return sum;
}

TEST(obstacles, shapes_are_closed_and_turned_outwards) {
  EXPECT_NEAR(volume(box_triangles({1, 2, 3}, {2, 4, 6})), 6.0, 1e-12);
  const double ball = volume(sphere_triangles({1, 2, 3}, 0.5));
  EXPECT_LT(ball, 0.125 * M_PI * 4.0 / 3.0);
  EXPECT_GT(ball, 0.125 * M_PI * 4.0 / 3.0 * 0.995);
  const double rod = volume(cylinder_triangles({1, 2, 3}, {2, 3, 4}, 0.5));
  EXPECT_LT(rod, 0.25 * M_PI * std::sqrt(3.0));
  EXPECT_GT(rod, 0.25 * M_PI * std::sqrt(3.0) * 0.998);
}

/// The midpoints of triangles are the points of the polyhedron that are nearest to the centre.
TEST(obstacles, spheres_are_as_close_as_their_refinement) {
  const double gaps[] = {0.21, 0.066, 0.018, 0.0046, 0.0012};
  for (int n = 0; n < 5; ++n) {
    const TriangleMesh ball = sphere_triangles({0, 0, 0}, 1.0, n);
    EXPECT_EQ(ball.triangles.size(), 20u << (2 * n));
    double nearest = 1.0;
    for (const auto& t : ball.triangles) {
      Vec3<double> middle = {{0.0, 0.0, 0.0}};
      for (const int corner : t)
        for (int c = 0; c < 3; ++c)
          middle[c] += ball.vertices[static_cast<std::size_t>(corner)][static_cast<std::size_t>(c)] / 3.0;
      nearest = std::min(nearest, std::sqrt(dot(middle, middle)));
    }
    EXPECT_LE(1.0 - nearest, gaps[n]);
    EXPECT_GT(1.0 - nearest, 0.9 * gaps[n]);
  }
}

}  // namespace
}  // namespace diffsim::contact::obstacles_test
