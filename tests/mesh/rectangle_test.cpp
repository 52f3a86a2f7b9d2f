// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/rectangle.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::rectangle_test {
namespace {

TEST(rectangle_triangles, cover_the_rectangle_by_diagonals_in_turns) {
  const TriangleMesh mesh = rectangle_triangles({0.6, 0.2}, {3, 2});
  ASSERT_EQ(mesh.vertices.size(), 12U);
  ASSERT_EQ(mesh.triangles.size(), 12U);
  EXPECT_EQ(mesh.vertices[5], (std::array{0.6 * 1 / 3, 0.2 * 1 / 2, 0.0}));
  double area = 0.0;
  for (const auto& corners : mesh.triangles) {
    Vec3<double> x[3];
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c)
        x[k][c] =
            mesh.vertices[static_cast<std::size_t>(corners[static_cast<std::size_t>(k)])][static_cast<std::size_t>(c)];
    const Vec3<double> normal = cross(x[1] - x[0], x[2] - x[0]);
    EXPECT_NEAR(normal[2], 0.02, 1e-15);
    area += 0.5 * normal[2];
  }
  EXPECT_NEAR(area, 0.12, 1e-15);
  // The diagonals alternate: the diagonal of the first cell begins at the cell's first corner, that of the next cell
  // does not.
  const auto has = [&](std::size_t triangle, int vertex) {
    const auto& corners = mesh.triangles[triangle];
    return std::find(corners.begin(), corners.end(), vertex) != corners.end();
  };
  EXPECT_TRUE(has(0, 0) && has(1, 0) && has(0, 5) && has(1, 5));
  EXPECT_TRUE(has(2, 2) && has(3, 2) && has(2, 5) && has(3, 5));
}

}  // namespace
}  // namespace diffsim::rectangle_test
