// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Areas of triangles inside squares: simple cases, sums over all squares, and derivatives against differences.

#include "sensor/pixel_area.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace diffsim::pixel_area_test {
namespace {

using namespace sensor;
using Triangle = ImageTriangle<double>;
using D = Dual<double, 1>;

PixelBox square(double x, double y) { return {{x, y}, {x + 1.0, y + 1.0}}; }

Triangle reversed(const Triangle& q) { return {q[0], q[2], q[1]}; }

/// Triangles with edges in general directions, and with horizontal and vertical edges.
const Triangle triangles[] = {{{{-1.3, 0.4}, {4.2, -2.7}, {2.1, 3.9}}},
                              {{{0.5, 0.25}, {3.5, 0.25}, {0.5, 2.75}}},
                              {{{-2.6, -2.2}, {3.7, -2.2}, {3.7, 3.1}}},
                              {{{0.2, 0.3}, {0.7, 0.4}, {0.3, 0.8}}}};

TEST(pixel_area, is_that_of_simple_shapes) {
  const Triangle covers{{{-5.0, -5.0}, {9.0, -5.0}, {-5.0, 9.0}}};
  EXPECT_NEAR(area_inside(covers, square(0.0, 0.0)), 1.0, 1e-14);
  EXPECT_NEAR(area_inside(reversed(covers), square(0.0, 0.0)), -1.0, 1e-14);
  EXPECT_NEAR(area_inside(covers, square(7.0, 7.0)), 0.0, 1e-14);
  // The hypotenuse x + y = 4 cuts the square [1.5, 2.5]² into halves.
  EXPECT_NEAR(area_inside(covers, {{1.5, 1.5}, {2.5, 2.5}}), 0.5, 1e-14);
  const Triangle inside{{{0.25, 0.25}, {0.75, 0.25}, {0.25, 0.75}}};
  EXPECT_NEAR(area_inside(inside, square(0.0, 0.0)), 0.125, 1e-14);
  EXPECT_NEAR(signed_area(inside), 0.125, 1e-14);
}

TEST(pixel_area, of_all_squares_is_the_area_of_the_triangle) {
  for (const Triangle& q : triangles)
    for (const Triangle& each : {q, reversed(q)}) {
      double sum = 0.0;
      for (int i = -6; i < 6; ++i)
        for (int j = -6; j < 6; ++j) {
          const double area = area_inside(each, square(i, j));
          EXPECT_GE(area * signed_area(each), -1e-13);
          EXPECT_LE(std::abs(area), 1.0 + 1e-13);
          sum += area;
        }
      EXPECT_NEAR(sum, signed_area(each), 1e-13);
    }
}

/// Returns the derivative at 0 by central differences of order eight.
double difference(const std::function<double(double)>& function) {
  constexpr double h = 1e-3, factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) sum += factors[k] / h * (function((k + 1) * h) - function(-(k + 1) * h));
  return sum;
}

Triangle moved(const Triangle& q, double h) {
  Triangle result = q;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 2; ++c) result[k][c] += h * std::cos(1.0 + 2.1 * static_cast<double>(2 * k + c));
  return result;
}

double dot(const Triangle& a, const Triangle& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 2; ++c) sum += a[k][c] * b[k][c];
  return sum;
}

Triangle gradient(const Triangle& q, const PixelBox& box, double w) {
  Triangle bar{};
  add_area_gradient(q, box, w, bar);
  return bar;
}

TEST(pixel_area, has_the_first_and_second_derivatives_that_differences_have) {
  const Triangle direction = moved(Triangle{}, 1.0), other{{{0.3, -0.8}, {0.5, 0.9}, {-0.7, 0.2}}};
  // Corners of the squares are not near edges of the triangles.
  const PixelBox boxes[] = {{{0.0, 0.0}, {1.0, 1.0}}, {{1.03, 0.57}, {2.03, 1.57}}, {{-1.41, -1.17}, {1.59, 1.83}}};
  int touched = 0;
  for (const Triangle& q : triangles)
    for (const PixelBox& box : boxes) {
      const Triangle slope = gradient(q, box, 1.7);
      EXPECT_NEAR(dot(slope, direction), 1.7 * difference([&](double h) { return area_inside(moved(q, h), box); }),
                  1e-10);
      ImageTriangle<D> along, bar{};
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 2; ++c) {
          along[k][c].value = q[k][c];
          along[k][c].derivative[0] = direction[k][c];
        }
      D w;
      w.value = 1.7;
      w.derivative[0] = -0.6;
      add_area_gradient(along, box, w, bar);
      double second = 0.0;
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 2; ++c) {
          EXPECT_NEAR(bar[k][c].value, slope[k][c], 1e-14);
          second += bar[k][c].derivative[0] * other[k][c];
        }
      const double expected =
          difference([&](double h) { return dot(gradient(moved(q, h), box, 1.7 - 0.6 * h), other); });
      EXPECT_NEAR(second, expected, 1e-10);
      touched += dot(slope, slope) > 1e-3;
    }
  EXPECT_GE(touched, 8);
}

}  // namespace
}  // namespace diffsim::pixel_area_test
