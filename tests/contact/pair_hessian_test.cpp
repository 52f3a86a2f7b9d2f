// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/pair_hessian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "pair_testing.hpp"

namespace diffsim::contact::pair_hessian_test {
namespace {

using namespace testing_pairs;

/// Compares the Hessian with the derivative of the force by Dual numbers. Returns the largest entry.
template <class Weights>
double expect_derivative_of_force(const Weights& weights, const Quad& x,
                                  const ContactLaw<double>& law = testing_pairs::law) {
  using D = Dual<double, 12>;
  std::array<Vec3<D>, 4> seeded, f;
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      seeded[static_cast<std::size_t>(k)][c] = D::variable(x[static_cast<std::size_t>(k)][c], 3 * k + c);
      f[static_cast<std::size_t>(k)][c] = D(0.0);
    }
  add_pair_force(
      weights, seeded.data(), static_cast<const Vec3<D>*>(nullptr),
      ContactLaw<D>{law.stiffness, law.range, law.friction, law.velocity, law.thickness, law.damping, law.is_penalty},
      f.data());
  PairHessian hessian{};
  add_pair_hessian(weights, x.data(), law, hessian);
  double size = 0.0, error = 0.0;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      size = std::max(size, std::abs(hessian.of[i][j]));
      error = std::max(error, std::abs(hessian.of[i][j] + f[static_cast<std::size_t>(i / 3)][i % 3].derivative[j]));
    }
  EXPECT_LE(error, 1e-10 * size);
  return size;
}

TEST(pair_hessian, is_minus_the_derivative_of_the_force) {
  QuadSource source(41);
  int active = 0;
  for (int n = 0; n < 400; ++n) {
    const Quad x = source.generic();
    if (point_triangle_distance(x.data()).squared < 0.01 || edge_edge_distance(x.data()).squared < 0.01) continue;
    active += expect_derivative_of_force(point_triangle, x) > 0.0;
    active += expect_derivative_of_force(edge_edge, x) > 0.0;
  }
  EXPECT_GT(active, 200);
}

TEST(pair_hessian, with_a_thickness_is_minus_the_derivative_of_the_force) {
  for (const ContactLaw<double>& law : {thick_law, penalty_law}) {
    QuadSource source(44);
    const double near = std::pow(law.is_penalty ? 0.1 : law.thickness + 0.1, 2);
    int active = 0;
    for (int n = 0; n < 400; ++n) {
      const Quad x = source.generic();
      if (std::min(point_triangle_distance(x.data()).squared, edge_edge_distance(x.data()).squared) < near) continue;
      active += expect_derivative_of_force(point_triangle, x, law) > 0.0;
      active += expect_derivative_of_force(edge_edge, x, law) > 0.0;
    }
    EXPECT_GT(active, 100);
  }
}

TEST(pair_hessian, of_mollified_edges_is_minus_the_derivative_of_the_force) {
  QuadSource source(42);
  for (int n = 0; n < 50; ++n) {
    const double angle = source.uniform(0.002, 0.02);
    const Quad x = {{{{-0.5, 0, 0}}, {{0.5, 0, 0}}, {{-0.4, 0.3, 0}}, {{0.6, 0.3 + angle, 0.5 * angle}}}};
    ASSERT_LT(squared_cross(x.data()), edge_edge.threshold);
    EXPECT_GT(expect_derivative_of_force(edge_edge, x), 0.0);
  }
}

TEST(pair_hessian, made_semidefinite_keeps_the_positive_part) {
  QuadSource source(43);
  double lost = 0.0;
  for (int n = 0; n < 50; ++n) {
    const Quad x = source.generic();
    if (edge_edge_distance(x.data()).squared < 0.01) continue;
    PairHessian before{};
    add_pair_hessian(edge_edge, x.data(), law, before);
    PairHessian after = before, twice;
    make_semidefinite(after);
    twice = after;
    make_semidefinite(twice);
    PairHessian between = before;
    make_semidefinite_between(between);
    double size = 0.0;
    for (const auto& row : before.of)
      for (const double value : row) size = std::max(size, std::abs(value));
    // P = P₊ - P₋ with P₊ P₋ = 0, hence (P₊ - P) P₊ = 0.
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j) {
        EXPECT_NEAR(twice.of[i][j], after.of[i][j], 1e-12 * size);
        EXPECT_NEAR(between.of[i][j], after.of[i][j], 1e-12 * size);
        double product = 0.0;
        for (int k = 0; k < 12; ++k) product += (after.of[i][k] - before.of[i][k]) * after.of[k][j];
        EXPECT_NEAR(product, 0.0, 1e-11 * size * size);
        lost = std::max(lost, std::abs(after.of[i][j] - before.of[i][j]) / size);
      }
    for (int trial = 0; trial < 20; ++trial) {
      double form = 0.0, y[12];
      for (double& value : y) value = source.uniform(-1.0, 1.0);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) form += y[i] * after.of[i][j] * y[j];
      EXPECT_GE(form, -1e-11 * size);
    }
  }
  EXPECT_GT(lost, 0.01);  // some Hessians were indefinite
}

}  // namespace
}  // namespace diffsim::contact::pair_hessian_test
