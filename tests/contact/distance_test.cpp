// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "contact_testing.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "exact.hpp"

namespace diffsim::contact::distance_test {
namespace {

const std::vector<DistanceType> point_triangle_types = {point_point(0, 1),   point_point(0, 2),   point_point(0, 3),
                                                        point_line(0, 1, 2), point_line(0, 2, 3), point_line(0, 3, 1),
                                                        point_plane()};
const std::vector<DistanceType> edge_edge_types = {point_point(0, 2),   point_point(0, 3),   point_point(1, 2),
                                                   point_point(1, 3),   point_line(0, 2, 3), point_line(1, 2, 3),
                                                   point_line(2, 0, 1), point_line(3, 0, 1), line_line()};

std::array<exact::Vector, 4> rational(const Quad& x) {
  return {exact::vector(x[0]), exact::vector(x[1]), exact::vector(x[2]), exact::vector(x[3])};
}

using First = Dual<double, 12>;
using Second = Dual<First, 12>;

std::array<Vec3<Second>, 4> seeded(const Quad& x) {
  std::array<Vec3<Second>, 4> result;
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      Second& s = result[static_cast<std::size_t>(k)][c];
      s = Second::constant(First::variable(x[static_cast<std::size_t>(k)][c], 3 * k + c));
      s.derivative[3 * k + c] = First(1.0);
    }
  return result;
}

/// Compares hand-written derivatives with nested automatic differentiation.
void expect_derivatives(const DistanceType& type, const Quad& x, QuadSource& source) {
  const Closest<double> at = closest(type, x.data());
  const std::array<Vec3<Second>, 4> seeds = seeded(x);
  const Second reference = squared_distance(type, seeds.data());
  double condition = 1.0;
  for (int a = 0; a < type.free; ++a) condition += at.inverse_gram[2 * a] * dot(at.e[a], at.e[a]);
  const double size = extent(x);
  EXPECT_NEAR(at.squared_distance(), reference.value.value, 1e-13 * condition * size * size);
  double largest = 0.0;
  for (const auto& row : reference.derivative)
    for (const double h : row.derivative) largest = std::max(largest, std::abs(h));
  Vec3<double> sum = {{0.0, 0.0, 0.0}};
  Quad v, y;
  for (auto& p : v) p = source.point(1.0);
  squared_distance_hessian_product(at, v.data(), y.data());
  for (int k = 0; k < 4; ++k) {
    const Vec3<double> g = squared_distance_gradient(at, k);
    sum = sum + g;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(g[i], reference.derivative[3 * k + i].value, 1e-12 * condition * size);
      double product = 0.0;
      for (int l = 0; l < 4; ++l) {
        const Mat3<double> h = squared_distance_hessian(at, k, l);
        for (int j = 0; j < 3; ++j) {
          EXPECT_NEAR(h(i, j), reference.derivative[3 * k + i].derivative[3 * l + j], 1e-12 * condition * largest);
          product += h(i, j) * v[static_cast<std::size_t>(l)][j];
        }
      }
      EXPECT_NEAR(y[static_cast<std::size_t>(k)][i], product, 1e-12 * condition * largest);
    }
  }
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(sum[i], 0.0, 1e-13 * size);
}

TEST(distance, derivatives_of_every_type_agree_with_automatic_differentiation) {
  QuadSource source(1);
  for (int n = 0; n < 50; ++n) {
    const Quad x = source.generic();
    for (const DistanceType& type : point_triangle_types) expect_derivatives(type, x, source);
    for (const DistanceType& type : edge_edge_types) expect_derivatives(type, x, source);
  }
}

TEST(distance, hessian_is_the_slope_of_the_gradient_at_second_order) {
  QuadSource source(2);
  for (const std::vector<DistanceType>& types : {point_triangle_types, edge_edge_types})
    for (const DistanceType& type : types) {
      const Quad x = source.generic(), v = source.generic();
      Quad hv;
      squared_distance_hessian_product(closest(type, x.data()), v.data(), hv.data());
      if (type.free == 0) continue;  // quadratic, so the difference is exact
      double previous = 0.0, order = 0.0;
      for (const double h : {1e-2, 5e-3, 2.5e-3}) {
        Quad plus = x, minus = x;
        for (std::size_t k = 0; k < 4; ++k)
          for (int c = 0; c < 3; ++c) {
            plus[k][c] += h * v[k][c];
            minus[k][c] -= h * v[k][c];
          }
        const Closest<double> up = closest(type, plus.data()), down = closest(type, minus.data());
        double error = 0.0;
        for (int k = 0; k < 4; ++k) {
          const Vec3<double> slope =
              detail::scaled(0.5 / h, squared_distance_gradient(up, k) - squared_distance_gradient(down, k));
          const Vec3<double> e = slope - hv[static_cast<std::size_t>(k)];
          error += dot(e, e);
        }
        error = std::sqrt(error);
        if (previous > 0.0) order = std::log2(previous / error);
        previous = error;
      }
      EXPECT_NEAR(order, 2.0, 0.1) << "free " << int(type.free) << " p " << int(type.p) << " q " << int(type.q);
    }
}

/// Compares each distance, and the formula of its type, with rational arithmetic.
void expect_exact(const Quad& x, std::map<int, int>& seen) {
  const double size = extent(x);
  const auto q = rational(x);
  const struct {
    TypedDistance computed;
    double reference;
  } both[] = {{point_triangle_distance(x.data()), exact::length(exact::point_triangle(q))},
              {edge_edge_distance(x.data()), exact::length(exact::edge_edge(q))}};
  for (const auto& [computed, reference] : both) {
    // Edges within 1e-12 of parallel count as parallel.
    const double tolerance = 2e-12 * size;
    EXPECT_NEAR(std::sqrt(computed.squared), reference, tolerance);
    EXPECT_NEAR(std::sqrt(closest(computed.type, x.data()).squared_distance()), reference, tolerance);
    ++seen[computed.type.free];
  }
}

TEST(distance, agrees_with_rational_arithmetic_on_random_and_degenerate_pairs) {
  QuadSource source(3);
  std::map<int, int> seen;
  for (int n = 0; n < 20000 && !testing::Test::HasFailure(); ++n) {
    const Quad x = source.any();
    expect_exact(x, seen);
    if (testing::Test::HasFailure())
      for (const auto& p : x) std::printf("%.17g %.17g %.17g\n", p[0], p[1], p[2]);
  }
  for (const int free : {0, 1, 2}) EXPECT_GT(seen[free], 2000);
}

TEST(distance, types_of_known_positions) {
  const Vec3<double> t1 = {{0, 0, 0}}, t2 = {{1, 0, 0}}, t3 = {{-0.5, 1, 0}};  // obtuse at t1
  const auto type = [&](double px, double py, double pz) {
    const Quad x = {Vec3<double>{{px, py, pz}}, t1, t2, t3};
    return point_triangle_distance(x.data()).type;
  };
  EXPECT_TRUE(type(0.2, 0.3, 1.0) == point_plane());
  EXPECT_TRUE(type(0.5, -1.0, 0.1) == point_line(0, 1, 2));
  EXPECT_TRUE(type(-1.0, 0.2, 0.0) == point_line(0, 3, 1));
  EXPECT_TRUE(type(-0.1, -0.1, 0.0) == point_point(0, 1));
  EXPECT_TRUE(type(2.0, 0.0, 0.0) == point_point(0, 2));
  EXPECT_TRUE(type(-1.0, 3.0, 0.0) == point_point(0, 3));
  EXPECT_TRUE(type(1.0, 1.0, 0.0) == point_line(0, 2, 3));

  const Quad crossing = {{{{-1, 0, 0}}, {{1, 0, 0}}, {{0, -1, 0.5}}, {{0, 1, 0.5}}}};
  EXPECT_TRUE(edge_edge_distance(crossing.data()).type == line_line());
  EXPECT_DOUBLE_EQ(edge_edge_distance(crossing.data()).squared, 0.25);
  const Quad parallel = {{{{0, 0, 0}}, {{2, 0, 0}}, {{1, 1, 0}}, {{3, 1, 0}}}};
  EXPECT_DOUBLE_EQ(edge_edge_distance(parallel.data()).squared, 1.0);
  const Quad points = {{{{0, 0, 0}}, {{0, 0, 0}}, {{3, 4, 0}}, {{3, 4, 0}}}};
  EXPECT_DOUBLE_EQ(edge_edge_distance(points.data()).squared, 25.0);
  EXPECT_DOUBLE_EQ(point_triangle_distance(points.data()).squared, 0.0);
}

TEST(distance, does_not_depend_on_the_order_of_corners_and_edges) {
  QuadSource source(4);
  for (int n = 0; n < 2000; ++n) {
    const Quad x = source.any();
    const double size = extent(x), tolerance = 1e-14 * size + 1e-300;
    const Quad turned = {x[0], x[2], x[3], x[1]}, flipped = {x[0], x[3], x[2], x[1]};
    const double pt = std::sqrt(point_triangle_distance(x.data()).squared);
    EXPECT_NEAR(std::sqrt(point_triangle_distance(turned.data()).squared), pt, tolerance);
    EXPECT_NEAR(std::sqrt(point_triangle_distance(flipped.data()).squared), pt, tolerance);
    const Quad swapped = {x[2], x[3], x[0], x[1]}, reversed = {x[1], x[0], x[2], x[3]};
    const double ee = std::sqrt(edge_edge_distance(x.data()).squared);
    EXPECT_NEAR(std::sqrt(edge_edge_distance(swapped.data()).squared), ee, tolerance);
    EXPECT_NEAR(std::sqrt(edge_edge_distance(reversed.data()).squared), ee, tolerance);
  }
}

TEST(distance, gradient_is_continuous_where_the_type_changes) {
  // Across the plane through edge 1 2 perpendicular to the triangle, the type changes from point–plane to point–line.
  for (const double height : {0.1, 1.0})
    for (const double offset : {1e-6, 1e-8}) {
      const Quad in = {{{{0.4, offset, height}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}};
      Quad out = in;
      out[0][1] = -offset;
      const TypedDistance a = point_triangle_distance(in.data()), b = point_triangle_distance(out.data());
      ASSERT_EQ(a.type.free, 2);
      ASSERT_EQ(b.type.free, 1);
      for (int k = 0; k < 4; ++k) {
        const Vec3<double> jump = squared_distance_gradient(closest(a.type, in.data()), k) -
                                  squared_distance_gradient(closest(b.type, out.data()), k);
        EXPECT_LE(std::sqrt(dot(jump, jump)), 10.0 * offset);
      }
    }
}

}  // namespace
}  // namespace diffsim::contact::distance_test
