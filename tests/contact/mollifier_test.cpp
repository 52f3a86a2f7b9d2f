// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/mollifier.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "contact_testing.hpp"
#include "diffsim/core/impl/dual.hpp"

namespace diffsim::contact::mollifier_test {
namespace {

using First = Dual<double, 12>;
using Second = Dual<First, 12>;

TEST(mollifier, derivatives_of_the_squared_cross_product) {
  QuadSource source(5);
  for (int n = 0; n < 100; ++n) {
    const Quad x = n % 2 == 0 ? source.generic() : source.near_grid(1, 1e-3);
    std::array<Vec3<Second>, 4> seeds;
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) {
        Second& s = seeds[static_cast<std::size_t>(k)][c];
        s = Second::constant(First::variable(x[static_cast<std::size_t>(k)][c], 3 * k + c));
        s.derivative[3 * k + c] = First(1.0);
      }
    const Second c = squared_cross(seeds.data());
    for (int k = 0; k < 4; ++k) {
      const Vec3<double> g = squared_cross_gradient(x.data(), k);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(g[i], c.derivative[3 * k + i].value, 1e-12);
      for (int l = 0; l < 4; ++l) {
        const Mat3<double> h = squared_cross_hessian(x.data(), k, l);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) EXPECT_NEAR(h(i, j), c.derivative[3 * k + i].derivative[3 * l + j], 1e-12);
      }
    }
  }
}

TEST(mollifier, joins_one_with_two_derivatives) {
  const double threshold = mollifier_threshold(4.0, 0.25);
  EXPECT_DOUBLE_EQ(threshold, 1e-3);
  const Mollifier<double> end(threshold, threshold);
  EXPECT_EQ(end.value, 1.0);
  EXPECT_EQ(end.gradient, 0.0);
  EXPECT_EQ(end.hessian, 0.0);
  EXPECT_EQ(Mollifier<double>(0.0, threshold).value, 0.0);
  using D = Dual<Dual<double, 1>, 1>;
  for (double c = 0.0; c < threshold; c += 0.13 * threshold) {
    D seed = D::constant(Dual<double, 1>::variable(c, 0));
    seed.derivative[0] = Dual<double, 1>(1.0);
    const D value = Mollifier<D>(seed, threshold).value;
    const Mollifier<double> m(c, threshold);
    EXPECT_NEAR(m.gradient, value.derivative[0].value, 1e-12 * std::abs(m.gradient) + 1e-10);
    EXPECT_NEAR(m.hessian, value.derivative[0].derivative[0], 1e-12 * std::abs(m.hessian) + 1e-6);
  }
}

TEST(mollifier, makes_the_edge_edge_distance_smooth_at_parallel_edges) {
  // One of two edges rotates through the parallel position. The slope of d² jumps, that of m d² does not.
  const auto at = [](double angle) {
    return Quad{{{{-1, 0, 0}},
                 {{1, 0, 0}},
                 {{-std::cos(angle), -std::sin(angle), 0.1 - 0.2 * angle}},
                 {{std::cos(angle), std::sin(angle), 0.1 + 0.2 * angle}}}};
  };
  const double threshold = mollifier_threshold(4.0, 4.0), h = 1e-7;
  const auto smooth = [&](double angle) {
    const Quad x = at(angle);
    return Mollifier<double>(squared_cross(x.data()), threshold).value * edge_edge_distance(x.data()).squared;
  };
  const auto jump = [&](auto&& f) { return std::abs((f(2.0 * h) - f(h)) / h - (f(-h) - f(-2.0 * h)) / h); };
  EXPECT_LE(jump(smooth), 1e-2);
  // A pair of edges of which the second is tilted, so that the closest features change at the parallel position.
  const auto tilted = [](double angle) {
    return Quad{{{{-1, 0, 0}}, {{1, 0, 0}}, {{-1, 0.5, 0.1 - angle}}, {{1, 0.5, 0.1 + angle}}}};
  };
  const auto kink = [&](double angle) { return edge_edge_distance(tilted(angle).data()).squared; };
  EXPECT_GT(jump(kink), 0.1);
  const auto mollified = [&](double angle) {
    const Quad x = tilted(angle);
    return Mollifier<double>(squared_cross(x.data()), threshold).value * kink(angle);
  };
  EXPECT_LE(jump(mollified), 1e-2);
}

}  // namespace
}  // namespace diffsim::contact::mollifier_test
