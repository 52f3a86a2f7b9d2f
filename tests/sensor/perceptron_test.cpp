// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/sensor/feedback.hpp"

namespace diffsim::perceptron_test {
namespace {

using Vector = std::vector<double>;

Vector wave(std::size_t count, double phase) {
  Vector values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.6 * std::cos(1.7 * static_cast<double>(i) + phase);
  return values;
}

Vector moved(Vector x, double h, const Vector& dx) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += h * dx[i];
  return x;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Sixth-order difference of a vector function at 0.
Vector difference(const std::function<Vector(double)>& f) {
  constexpr double h = 0.01;
  Vector sum(f(0.0).size(), 0.0);
  for (const auto& [k, weight] : {std::pair(1, 45.0), std::pair(2, -9.0), std::pair(3, 1.0)}) {
    const Vector plus = f(k * h), minus = f(-k * h);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * (plus[i] - minus[i]) / (60.0 * h);
  }
  return sum;
}

void expect_near(const Vector& found, const Vector& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-9 * (1.0 + std::abs(expected[i]))) << i;
}

class Policies : public testing::TestWithParam<PerceptronOptions> {
 protected:
  const std::shared_ptr<const Policy> policy = make_perceptron(3, 2, GetParam());
  const Vector y = wave(3, 0.1), theta = wave(policy->num_weights(), 0.4), dy = wave(3, 0.9),
               dtheta = wave(policy->num_weights(), 1.3), w = wave(2, 2.0), dw = wave(2, 2.6);

  /// Adjoints of y and θ, one after the other.
  Vector adjoint(const Vector& at_y, const Vector& at_theta, const Vector& at_w) const {
    Vector by_y(3, 0.0), by_theta(theta.size(), 0.0);
    policy->add_adjoint(at_y, at_theta, at_w, by_y, by_theta);
    by_y.insert(by_y.end(), by_theta.begin(), by_theta.end());
    return by_y;
  }
};

TEST_P(Policies, has_the_tangent_that_differences_have) {
  expect_near(policy->tangent(y, theta, dy, dtheta),
              difference([&](double h) { return policy->evaluate(moved(y, h, dy), moved(theta, h, dtheta)); }));
}

TEST_P(Policies, has_the_adjoint_of_the_tangent) {
  const Vector by = adjoint(y, theta, w), by_y(by.begin(), by.begin() + 3), by_theta(by.begin() + 3, by.end());
  const double expected = dot(w, policy->tangent(y, theta, dy, dtheta));
  EXPECT_NEAR(dot(by_y, dy) + dot(by_theta, dtheta), expected, 1e-14);
  EXPECT_GT(std::abs(expected), 1e-3);
}

TEST_P(Policies, has_the_change_of_the_adjoint_that_differences_have) {
  Vector by_y(3, 0.0), by_theta(theta.size(), 0.0);
  policy->add_adjoint_tangent(y, theta, dy, dtheta, w, dw, by_y, by_theta);
  by_y.insert(by_y.end(), by_theta.begin(), by_theta.end());
  expect_near(by_y,
              difference([&](double h) { return adjoint(moved(y, h, dy), moved(theta, h, dtheta), moved(w, h, dw)); }));
}

INSTANTIATE_TEST_SUITE_P(perceptron, Policies,
                         testing::Values(PerceptronOptions{}, PerceptronOptions{.limits = {0.3, 2.0}},
                                         PerceptronOptions{.hidden = {4}},
                                         PerceptronOptions{.hidden = {5, 3}, .limits = {0.3, 2.0}}));

TEST(perceptron, without_hidden_layers_is_linear) {
  const auto policy = make_perceptron(2, 1);
  ASSERT_EQ(policy->num_weights(), 3U);
  EXPECT_EQ(policy->initial_weights(), Vector(3, 0.0));
  const Vector y{2.0, 5.0}, theta{10.0, 100.0, 7.0};  // W = (10, 100), b = 7
  EXPECT_EQ(policy->evaluate(y, theta), Vector{527.0});
}

TEST(perceptron, computes_layers_in_order) {
  const auto policy = make_perceptron(1, 1, {.hidden = {2}, .limits = {3.0}});
  const Vector y{0.4}, theta{2.0, -1.0, 0.1, 0.2, 0.7, 0.5, -0.3};
  const double z = 0.7 * std::tanh(0.8 + 0.1) + 0.5 * std::tanh(-0.4 + 0.2) - 0.3;
  EXPECT_NEAR(policy->evaluate(y, theta)[0], 3.0 * std::tanh(z / 3.0), 1e-15);
}

TEST(perceptron, has_random_initial_weights_for_hidden_layers) {
  const auto policy = make_perceptron(4, 1, {.hidden = {3}, .seed = 1}),
             same = make_perceptron(4, 1, {.hidden = {3}, .seed = 1}),
             other = make_perceptron(4, 1, {.hidden = {3}, .seed = 2});
  const Vector theta = policy->initial_weights();
  EXPECT_EQ(theta, same->initial_weights());
  EXPECT_NE(theta, other->initial_weights());
  for (std::size_t i = 0; i < 12; ++i) EXPECT_LE(std::abs(theta[i]), 0.5);  // 1/√4
  EXPECT_GT(std::abs(theta[0]), 0.0);
  for (std::size_t i = 12; i < 15; ++i) EXPECT_EQ(theta[i], 0.0);  // b of the hidden layer
}

TEST(perceptron, refuses_impossible_options) {
  EXPECT_THROW(make_perceptron(0, 1), Error);
  EXPECT_THROW(make_perceptron(1, 1, {.hidden = {0}}), Error);
  EXPECT_THROW(make_perceptron(1, 2, {.limits = {1.0}}), Error);
  EXPECT_THROW(make_perceptron(1, 1, {.limits = {-1.0}}), Error);
}

}  // namespace
}  // namespace diffsim::perceptron_test
