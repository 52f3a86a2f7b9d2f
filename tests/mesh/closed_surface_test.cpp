// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/closed_surface.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <utility>

#include "contact/obstacles.hpp"

namespace diffsim::closed_surface_test {
namespace {

using contact::box_triangles;
using contact::cylinder_triangles;
using contact::sphere_triangles;

TEST(closed_surface, volumes_need_closed_manifolds) {
  EXPECT_EQ(volume_error(box_triangles({0, 0, 0}, {1, 1, 1})), "");
  EXPECT_EQ(volume_error(cylinder_triangles({0, 0, 0}, {1, 2, 1}, 0.3)), "");
  const TriangleMesh tetrahedron = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                    {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
  EXPECT_EQ(volume_error(tetrahedron), "");
  TriangleMesh mesh = tetrahedron;
  mesh.triangles.pop_back();
  EXPECT_EQ(volume_error(mesh), "the edge from (0, 0, 0) to (0, 1, 0) has one triangle: the surface is open");
  mesh = tetrahedron;
  std::swap(mesh.triangles[2][0], mesh.triangles[2][1]);
  EXPECT_EQ(volume_error(mesh), "the edge from (1, 0, 0) to (0, 1, 0) has two triangles of opposite orientation");
  mesh = tetrahedron;
  mesh.vertices.push_back({-1, 0, 0});
  mesh.triangles.push_back({0, 2, 4});
  EXPECT_EQ(volume_error(mesh),
            "the edge from (0, 0, 0) to (0, 1, 0) has more than two triangles: the surface is not a manifold");
}

TEST(closed_surface, moments_of_a_box) {
  for (const double far : {0.0, 1e4}) {  // distance from the origin
    const VolumeMoments moments = volume_moments(box_triangles({far, 0, -far}, {far + 0.3, 0.2, 0.1 - far}));
    const double size[3] = {0.3, 0.2, 0.1}, centre[3] = {far + 0.15, 0.1, 0.05 - far};
    const double rounding = 1e-14 + 1e-12 * far;
    EXPECT_NEAR(moments.volume, 0.006, rounding);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(moments.centre[i], centre[i], rounding);
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_NEAR(moments.covariance[i][j], i == j ? size[i] * size[i] / 12.0 : 0.0, rounding);
    }
  }
}

TEST(closed_surface, moments_of_a_tetrahedron) {
  const TriangleMesh mesh = {{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}},
                             {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
  const VolumeMoments moments = volume_moments(mesh);
  const double size[3] = {1.0, 2.0, 3.0};
  EXPECT_NEAR(moments.volume, 1.0, 1e-14);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(moments.centre[i], size[i] / 4.0, 1e-14);
    for (std::size_t j = 0; j < 3; ++j)  // for the unit simplex: 3/80 and -1/80
      EXPECT_NEAR(moments.covariance[i][j], (i == j ? 3.0 : -1.0) / 80.0 * size[i] * size[j], 1e-14);
  }
}

TEST(closed_surface, moments_and_area_of_a_sphere) {
  const TriangleMesh mesh = sphere_triangles({1.0, -2.0, 0.5}, 0.5);
  const VolumeMoments moments = volume_moments(mesh);
  const double volume = std::numbers::pi / 6.0;
  EXPECT_NEAR(moments.volume, volume, 3e-3 * volume);  // the sphere is an inscribed polyhedron
  EXPECT_LT(moments.volume, volume);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(moments.covariance[i][i], 0.05, 1.5e-4);  // r²/5
  EXPECT_NEAR(surface_area(mesh), std::numbers::pi, 5e-3);
}

TEST(closed_surface, inwards_is_negative) {
  TriangleMesh mesh = box_triangles({0, 0, 0}, {1, 1, 1});
  for (auto& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_NEAR(volume_moments(mesh).volume, -1.0, 1e-14);
}

}  // namespace
}  // namespace diffsim::closed_surface_test
