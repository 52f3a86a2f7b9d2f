// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Energies of one membrane and one hinge, and their derivatives by formulas against Dual numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "core/energy_derivatives.hpp"
#include "diffsim/shell/fabric_energy.hpp"
#include "diffsim/shell/fabric_limit.hpp"
#include "diffsim/shell/hinge_energy.hpp"
#include "diffsim/shell/membrane_energy.hpp"

namespace diffsim {
namespace {

template <class F>
stencil::Values<F> bent(double size) {
  stencil::Values<F> at{};
  constexpr double X[4][3] = {{0.1, 0.2, 0.05}, {1.1, 0.1, 0.3}, {0.4, 1.2, -0.2}, {0.7, -0.8, 0.4}};
  for (int k = 0; k < 3 * F::num_nodes; ++k) {
    at.X[k / 3][k % 3] = X[k / 3][k % 3];
    at.x[k / 3][k % 3] = X[k / 3][k % 3] + size * std::sin(3.7 * k + 0.4);
  }
  for (int k = 0; k < F::num_values; ++k) at.p[k] = k == 0 ? 7.0 : 0.3;
  return at;
}

TEST(MembraneEnergy, has_its_derivatives) {
  EXPECT_LE(testing::error_of_derivatives(MembraneEnergy(), bent<MembraneEnergy>(0.2)), 1e-14);
}
TEST(HingeEnergy, has_its_derivatives) {
  EXPECT_LE(testing::error_of_derivatives(HingeEnergy(), bent<HingeEnergy>(0.2)), 1e-14);
}

TEST(MembraneEnergy, of_a_strip_stretched_alone_is_half_the_stiffness_times_the_strain_squared) {
  // Green's strain ε along x, -ν ε across: the energy is k ε²/2 times the area.
  constexpr double strain = 0.1, nu = 0.3;
  stencil::Values<MembraneEnergy> at{};
  at.X[1] = {{2.0, 0.0, 0.0}};
  at.X[2] = {{0.5, 1.0, 0.0}};
  for (int i = 0; i < 3; ++i)
    at.x[i] = {{std::sqrt(1.0 + 2.0 * strain) * at.X[i][0], 0.0, std::sqrt(1.0 - 2.0 * nu * strain) * at.X[i][1]}};
  at.p[0] = 50.0;
  at.p[1] = nu;
  EXPECT_NEAR(MembraneEnergy().energy(at), 0.5 * 50.0 * strain * strain, 1e-14);
}

TEST(HingeEnergy, is_that_of_its_angle) {
  // Two halves of a unit square, the second turned by 0.4 about their common diagonal: A₁ + A₂ = 1, l² = 2.
  stencil::Values<HingeEnergy> at{};
  const double s = std::sqrt(0.5);
  at.X[0] = {{0.0, -s, 0.0}};
  at.X[1] = {{0.0, s, 0.0}};
  at.X[2] = {{-s, 0.0, 0.0}};
  at.X[3] = {{s, 0.0, 0.0}};
  for (int i = 0; i < 4; ++i) at.x[i] = at.X[i];
  at.p[0] = 2.0;
  EXPECT_EQ(HingeEnergy().energy(at), 0.0);
  for (const double turn : {0.4, -0.4}) {
    at.x[3] = {{s * std::cos(turn), 0.0, s * std::sin(turn)}};
    EXPECT_NEAR(HingeEnergy().energy(at), 2.0 / 4.0 * 3.0 * 2.0 * 0.4 * 0.4, 1e-14);
  }
}

/// The triangle of `bent`, with threads along a direction that is neither in its plane nor across it.
template <class F, class... Numbers>
stencil::Values<F> woven(double size, Numbers... numbers) {
  stencil::Values<F> at = bent<F>(size);
  int k = 0;
  for (const double number : {double(numbers)..., 0.8, 0.5, -0.3}) at.p[k++] = number;
  return at;
}

TEST(FabricEnergy, has_its_derivatives) {
  EXPECT_LE(testing::error_of_derivatives(FabricEnergy(), woven<FabricEnergy>(0.2, 7.0, 4.0, 1.5, 0.3)), 1e-14);
}

TEST(FabricEnergy, is_that_of_a_membrane_where_warp_and_weft_are_alike) {
  constexpr double k = 7.0, nu = 0.3;
  const auto at = woven<FabricEnergy>(0.2, k, k, k / (2.0 * (1.0 + nu)), nu);
  const auto alike = bent<MembraneEnergy>(0.2);
  EXPECT_NEAR(FabricEnergy().energy(at), MembraneEnergy().energy(alike), 1e-14);
  stencil::Values<FabricEnergy> by;
  stencil::Values<MembraneEnergy> by_alike;
  FabricEnergy().energy_derivatives(at, by);
  MembraneEnergy().energy_derivatives(alike, by_alike);
  for (int i = 0; i < 9; ++i) {
    EXPECT_NEAR(by.x[i / 3][i % 3], by_alike.x[i / 3][i % 3], 1e-14);
    EXPECT_NEAR(by.X[i / 3][i % 3], by_alike.X[i / 3][i % 3], 1e-14);
  }
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(by.p[4 + c], 0.0, 1e-14);
}

/// A triangle in the plane of x and y, stretched by 1 + a along x and 1 + b along y; threads of the warp along x.
template <class F>
stencil::Values<F> stretched(double a, double b) {
  stencil::Values<F> at{};
  at.X[1] = {{2.0, 0.3, 0.0}};
  at.X[2] = {{0.5, 1.0, 0.0}};
  for (int i = 0; i < 3; ++i) at.x[i] = {{(1.0 + a) * at.X[i][0], (1.0 + b) * at.X[i][1], 0.0}};
  at.p[F::num_values - 3] = 3.0;
  return at;
}

TEST(FabricEnergy, of_threads_that_are_stretched_is_that_of_their_stiffnesses) {
  const auto energy = [](double a, double b) {
    auto at = stretched<FabricEnergy>(a, b);
    const double p[] = {50.0, 20.0, 5.0, 0.2};
    for (int k = 0; k < 4; ++k) at.p[k] = p[k];
    return FabricEnergy().energy(at);
  };
  constexpr double area = 0.5 * (2.0 - 0.15), a = 0.1, E = a + 0.5 * a * a;
  EXPECT_NEAR(energy(a, 0.0), area * 0.5 * 50.0 * E * E / (1.0 - 0.04), 1e-14);
  EXPECT_NEAR(energy(0.0, a), area * 0.5 * 20.0 * E * E / (1.0 - 0.04), 1e-14);
  EXPECT_NEAR(energy(a, a) - energy(a, 0.0) - energy(0.0, a), area * 0.2 * std::sqrt(1000.0) * E * E / (1.0 - 0.04),
              1e-14);
}

TEST(FabricEnergy, of_a_shear_of_threads_is_that_of_their_angle) {
  auto at = stretched<FabricEnergy>(0.0, 0.0);
  const double p[] = {50.0, 20.0, 5.0, 0.2};
  for (int k = 0; k < 4; ++k) at.p[k] = p[k];
  constexpr double angle = 0.3;
  for (int i = 0; i < 3; ++i)
    at.x[i] = {{at.X[i][0] + std::sin(angle) * at.X[i][1], std::cos(angle) * at.X[i][1], 0.0}};
  EXPECT_NEAR(FabricEnergy().energy(at), 0.925 * 0.5 * 5.0 * std::sin(angle) * std::sin(angle), 1e-14);
}

TEST(FabricLimit, has_its_derivatives) {
  constexpr double limit = 0.6;
  auto at = woven<FabricLimit>(0.2, 7.0, 4.0, limit);
  for (auto& x : at.x) x = 1.3 * x;
  const FabricStrain<double> of(at, at.vector(3));
  for (const auto& f : of.f) {
    // Both threads are in the barrier.
    EXPECT_GT(std::sqrt(dot(f, f)), 1.0 + 0.5 * limit);
    EXPECT_LT(std::sqrt(dot(f, f)), 1.0 + limit);
  }
  EXPECT_LE(testing::error_of_derivatives(FabricLimit(), at), 1e-13);
}

TEST(FabricLimit, acts_on_a_thread_from_half_of_its_strain_and_has_no_value_beyond) {
  const auto energy = [](double a, double b) {
    auto at = stretched<FabricLimit>(a, b);
    const double p[] = {50.0, 20.0, 0.2};
    for (int k = 0; k < 3; ++k) at.p[k] = p[k];
    return FabricLimit().energy(at);
  };
  constexpr double area = 0.925;
  EXPECT_EQ(energy(0.099, -0.4), 0.0);
  // s = 2 0.15/0.2 - 1 = 1/2.
  EXPECT_NEAR(energy(0.15, 0.0), area * 0.04 / 8.0 * 50.0 * 0.0625 * std::log(2.0), 1e-14);
  EXPECT_NEAR(energy(-0.1, 0.15), area * 0.04 / 8.0 * 20.0 * 0.0625 * std::log(2.0), 1e-14);
  EXPECT_GT(energy(0.2 - 1e-12, 0.0), 3.0);
  EXPECT_TRUE(std::isnan(energy(0.201, 0.0)));
}

}  // namespace
}  // namespace diffsim
