// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/impl/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace diffsim::element_test {
namespace {

using Point = std::array<double, 3>;

/// Returns the ten nodes of the tetrahedron (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), displaced by `map`.
QuadraticCell cell(const std::function<Point(const Point&)>& map = [](const Point& x) { return x; }) {
  QuadraticCell x{};
  for (std::size_t a = 1; a < 4; ++a) x[a][a - 1] = 1.0;
  for (std::size_t e = 0; e < 6; ++e)
    for (std::size_t c = 0; c < 3; ++c)
      x[4 + e][c] = 0.5 * (x[static_cast<std::size_t>(edge_corners[e][0])][c] +
                           x[static_cast<std::size_t>(edge_corners[e][1])][c]);
  for (Point& point : x) point = map(point);
  return x;
}

TEST(Element, FacesAreMadeOfTheNodesBetweenTheirCorners) {
  for (int f = 0; f < 4; ++f)
    for (int i = 0; i < 3; ++i) {
      const int a = face_nodes[f][i], b = face_nodes[f][(i + 1) % 3];
      EXPECT_NE(a, f);
      const auto* edge = edge_corners[face_nodes[f][3 + i] - 4];
      EXPECT_EQ(std::minmax(a, b), std::minmax(edge[0], edge[1])) << "face " << f << ", edge " << i;
    }
}

TEST(Element, FacesPointOutwards) {
  const QuadraticCell x = cell();
  for (const auto& nodes : face_nodes) {
    double volume = 0.0;  // volume of the tetrahedron of this face and an interior point
    const auto at = [&](int i, std::size_t c) { return x[static_cast<std::size_t>(nodes[i])][c] - 0.1; };
    for (std::size_t c = 0; c < 3; ++c)
      volume += at(0, c) * (at(1, (c + 1) % 3) * at(2, (c + 2) % 3) - at(1, (c + 2) % 3) * at(2, (c + 1) % 3));
    EXPECT_GT(volume, 0.0);
  }
}

TEST(Element, JacobianIsTheDeterminantOfTheMap) {
  // The map x ↦ (x + 0.3 y², y + 0.2 x z, z) is quadratic, so the element represents it exactly; det = 1 - 0.12 y z.
  const QuadraticCell curved = cell([](const Point& x) {
    return Point{x[0] + 0.3 * x[1] * x[1], x[1] + 0.2 * x[0] * x[2], x[2]};
  });
  for (const std::array<double, 4>& lambda :
       {std::array<double, 4>{0.25, 0.25, 0.25, 0.25}, {0.1, 0.2, 0.3, 0.4}, {0, 0, 0.5, 0.5}, {1, 0, 0, 0}})
    EXPECT_NEAR(jacobian(curved, lambda), 1.0 - 0.12 * lambda[2] * lambda[3], 1e-14);
  // ∫ y z over the reference tetrahedron is 1/120.
  EXPECT_NEAR(volume(curved), 1.0 / 6.0 - 0.12 / 120.0, 1e-15);
  EXPECT_NEAR(least_jacobian(curved), 1.0 - 0.12 / 4.0, 1e-14);
}

TEST(Element, VolumeIsExactForCubicJacobians) {
  // Map x ↦ (x (1 + a x), y (1 + b y), z (1 + c z)), with det = (1 + 2 a x)(1 + 2 b y)(1 + 2 c z).
  const double a = 0.3, b = -0.2, c = 0.15;
  const QuadraticCell curved = cell([&](const Point& x) {
    return Point{x[0] * (1 + a * x[0]), x[1] * (1 + b * x[1]), x[2] * (1 + c * x[2])};
  });
  // Integrals of 1, x, x y and x y z over the reference tetrahedron: 1/6, 1/24, 1/120 and 1/720.
  const double exact = 1.0 / 6 + 2 * (a + b + c) / 24 + 4 * (a * b + b * c + c * a) / 120 + 8 * a * b * c / 720;
  EXPECT_NEAR(volume(curved), exact, 1e-15);
}

TEST(Element, LeastJacobianSeesFoldsAtNodes) {
  for (std::size_t e = 0; e < 6; ++e) {
    QuadraticCell x = cell();
    const auto from = static_cast<std::size_t>(edge_corners[e][0]), to = static_cast<std::size_t>(edge_corners[e][1]);
    for (std::size_t c = 0; c < 3; ++c) x[4 + e][c] = 0.76 * x[from][c] + 0.24 * x[to][c];  // past the quarter point
    EXPECT_LT(least_jacobian(x), 0.0) << e;
    for (std::size_t c = 0; c < 3; ++c) x[4 + e][c] = 0.74 * x[from][c] + 0.26 * x[to][c];
    EXPECT_GT(least_jacobian(x), 0.0) << e;
  }
}

TEST(Element, LeastJacobianSeesExchangedNodes) {
  for (std::size_t e = 0; e < 6; ++e)
    for (std::size_t f = 0; f < e; ++f) {
      QuadraticCell x = cell();
      std::swap(x[4 + e], x[4 + f]);
      EXPECT_LE(least_jacobian(x), 0.0) << e << ", " << f;
    }
}

}  // namespace
}  // namespace diffsim::element_test
