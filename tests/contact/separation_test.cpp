// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of pairs classified as farther apart than a limit, against distances in rational arithmetic.

#include "contact/separation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "contact_testing.hpp"
#include "exact.hpp"

namespace diffsim::contact::separation_test {
namespace {

exact::Rational squared_distance(const Quad& x, int first) {
  std::array<exact::Vector, 4> points;
  for (std::size_t k = 0; k < 4; ++k) points[k] = exact::vector(x[k]);
  const exact::Vector r = first == 1 ? exact::point_triangle(points) : exact::edge_edge(points);
  return exact::dot(r, r);
}

template <int first>
void expect_right(std::uint64_t seed) {
  QuadSource source(seed);
  int farther = 0;
  for (int n = 0; n < 4000; ++n) {
    Quad x = source.any();
    if (source.integer(0, 2) == 0) {
      const Vec3<double> place = source.point(std::pow(10.0, source.uniform(0.0, 6.0)));
      for (auto& p : x) p = p + place;
    }
    const exact::Rational squared = squared_distance(x, first);
    const double limit = std::sqrt(squared.get_d()) * (source.integer(0, 1) ? source.uniform(0.0, 1.0) : 1.0);
    if (!is_farther<first>(x.data(), limit)) continue;
    ++farther;
    EXPECT_GT(squared, exact::Rational(limit) * exact::Rational(limit)) << n;
  }
  EXPECT_GT(farther, 400);
}

TEST(separation, pairs_called_farther_are_so) {
  expect_right<1>(21);
  expect_right<2>(22);
}

TEST(separation, is_seen_where_primitives_are_small_beside_their_distance) {
  const Quad x = {{{{0.2, 0.2, 5}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}};
  EXPECT_TRUE(is_farther<1>(x.data(), 4.9));
  EXPECT_FALSE(is_farther<1>(x.data(), 5.1));
  const Quad edges = {{{{0, 0, 0}}, {{1, 0, 0}}, {{0, 0, 9}}, {{0, 1, 9}}}};
  EXPECT_TRUE(is_farther<2>(edges.data(), 8.9));
  EXPECT_FALSE(is_farther<2>(edges.data(), 9.1));
}

TEST(separation, is_not_claimed_of_what_is_no_number) {
  for (std::size_t i = 0; i < 12; ++i) {
    Quad x = {{{{0.2, 0.2, 5}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}};
    x[i / 3][static_cast<int>(i % 3)] = std::nan("");
    EXPECT_FALSE(is_farther<1>(x.data(), 1.0));
    EXPECT_FALSE(is_farther<2>(x.data(), 1.0));
  }
}

}  // namespace
}  // namespace diffsim::contact::separation_test
