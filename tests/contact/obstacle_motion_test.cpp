// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/obstacle_motion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "contact/pair_kernels.hpp"

namespace diffsim::contact::obstacle_motion_test {
namespace {

constexpr int mesh_vertices = 2, obstacle_vertices = 3;

std::vector<double> random_values(int size) {
  static std::mt19937 generator(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (double& value : values) value = uniform(generator);
  return values;
}

std::vector<double> along(const std::vector<double>& x, double h, const std::vector<double>& dx) {
  std::vector<double> y = x;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += h * dx[i];
  return y;
}

/// Two of three obstacle vertices belong to an obstacle that moves and rotates. The slots refer to one vertex of the
/// mesh and to the three obstacle vertices, one of them twice.
struct Case {
  ObstacleMotion motion{"0", Turn::about({0.3, -0.8, 0.5}, {0.1, 0.2, -0.4}), 1, 3};
  std::vector<int> targets{0, mesh_vertices + 1, mesh_vertices + 2, mesh_vertices + 1, mesh_vertices};
  std::vector<double> reference = random_values(3 * obstacle_vertices);
  /// p, V, ω and t with their changes; adjoints of positions and velocities; changes of these adjoints.
  std::vector<double> rates = random_values(8), changes = random_values(8);
  std::vector<double> x_bar = random_values(15), v_bar = random_values(15);
  std::vector<double> dx_bar = random_values(15), dv_bar = random_values(15);
};

ParameterSet parameters(const ObstacleMotion& motion, const std::vector<double>& rates) {
  const auto names = motion.names();
  ParameterSet set;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto begin = rates.begin() + static_cast<std::ptrdiff_t>(3 * k);
    const int size = k < 2 ? 3 : 1;
    set.add(names[k], Entities::one_for_all(MPI_COMM_SELF), size).field.from_host({begin, begin + size});
  }
  return set;
}

std::vector<double> joined(const ObstacleMotion& motion, const ParameterSet& set) {
  std::vector<double> values;
  for (const std::string& name : motion.names()) {
    const std::vector<double> part = set.at(name).field.to_host();
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

/// Returns the gradient with respect to p, V and ω after all inputs are moved by h along the direction.
std::vector<double> gradient_at(const Case& c, double h) {
  const std::vector<double> rates = along(c.rates, h, c.changes);
  const ParameterSet set = parameters(c.motion, rates);
  const auto reference = to_device("reference", c.reference);
  const auto places = make_zeroed_device_array<double>("places", 3 * obstacle_vertices);
  place_obstacle(c.motion, reference.data(), set, 0, rates[7], places);
  const auto x = make_zeroed_device_array<double>("x", 3 * (mesh_vertices + obstacle_vertices));
  Kokkos::deep_copy(Kokkos::subview(x, Kokkos::make_pair(3 * mesh_vertices, static_cast<int>(x.size()))), places);
  ParameterSet gradient = set.zero_like(set.names());
  add_obstacle_gradient(c.motion, to_device("targets", c.targets), mesh_vertices, x,
                        to_device("x_bar", along(c.x_bar, h, c.dx_bar)),
                        to_device("v_bar", along(c.v_bar, h, c.dv_bar)), set, 0, rates[7], gradient);
  return joined(c.motion, gradient);
}

TEST(obstacle_motion, second_derivatives_are_those_of_the_gradient) {
  const Case c;
  const ParameterSet set = parameters(c.motion, c.rates), direction = parameters(c.motion, c.changes);
  ParameterSet tangent = set.zero_like(set.names());
  const auto reference = to_device("reference", c.reference);
  const PairAdjointTangent bar{to_device("x_bar", c.x_bar), to_device("dx_bar", c.dx_bar), to_device("v_bar", c.v_bar),
                               to_device("dv_bar", c.dv_bar)};
  add_obstacle_gradient_tangent(c.motion, to_device("targets", c.targets), mesh_vertices, reference.data(), bar, set,
                                direction, 0, c.rates[7], c.changes[7], tangent);
  const std::vector<double> exact = joined(c.motion, tangent);
  double errors[2] = {};
  for (int s = 0; s < 2; ++s) {
    const double h = 1e-3 / (1 << s);
    const std::vector<double> plus = gradient_at(c, h), minus = gradient_at(c, -h);
    for (std::size_t i = 0; i < exact.size(); ++i)
      errors[s] = std::max(errors[s], std::abs((plus[i] - minus[i]) / (2.0 * h) - exact[i]));
  }
  EXPECT_LT(errors[0], 1e-4);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.05);
}

}  // namespace
}  // namespace diffsim::contact::obstacle_motion_test
