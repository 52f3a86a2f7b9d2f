// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Energies of one membrane and one hinge. The hand-written derivatives are compared with Dual numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "core/energy_derivatives.hpp"
#include "elastic/neo_hookean.hpp"
#include "shell/fabric_energy.hpp"
#include "shell/fabric_hinge.hpp"
#include "shell/fabric_limit.hpp"
#include "shell/hinge_energy.hpp"
#include "shell/membrane_energy.hpp"
#include "shell/neo_hookean_membrane.hpp"
#include "shell/shell_membrane.hpp"

namespace diffsim::energies_test {
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
  EXPECT_LE(testing_core::error_of_derivatives(MembraneEnergy(), bent<MembraneEnergy>(0.2)), 1e-14);
}
TEST(HingeEnergy, has_its_derivatives) {
  EXPECT_LE(testing_core::error_of_derivatives(HingeEnergy(), bent<HingeEnergy>(0.2)), 1e-14);
}

TEST(MembraneEnergy, of_a_strip_stretched_alone_is_half_the_stiffness_times_the_strain_squared) {
  // With Green strain ε along x and -ν ε across, the energy is k ε²/2 times the area.
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

TEST(NeoHookeanMembrane, has_its_derivatives) {
  for (const double nu : {-0.3, 0.0, 0.3, 0.4999})
    for (const double size : {0.03, 0.2}) {
      auto at = bent<NeoHookeanMembrane>(size);
      at.p[1] = nu;
      EXPECT_LE(testing_core::error_of_derivatives(NeoHookeanMembrane(), at), 1e-13) << nu << ' ' << size;
    }
  using Shell = ShellMembrane<NeoHookeanMembrane>;
  EXPECT_LE(testing_core::error_of_derivatives(Shell(), bent<Shell>(0.2)), 1e-13);
}

/// A triangle of rest area 1, stretched by the factors a along x and b along y.
template <class F>
stencil::Values<F> pulled(double a, double b, double k, double nu) {
  stencil::Values<F> at{};
  at.X[1] = {{2.0, 0.0, 0.0}};
  at.X[2] = {{0.5, 1.0, 0.0}};
  for (int i = 0; i < 3; ++i) at.x[i] = {{a * at.X[i][0], 0.0, b * at.X[i][1]}};
  at.p[0] = k;
  at.p[1] = nu;
  return at;
}

/// Returns the least energy of the solid law over all stretches through the thickness, by a golden-section search for
/// the logarithm of the stretch. For ν < 0 the energy is unbounded below as the thickness tends to zero; the search
/// then finds the local minimum near stretch 1.
double least_energy(double a, double b, double E, double nu) {
  double moduli[2];
  NeoHookean::moduli({E, nu}, moduli);
  const auto energy = [&](double log_c) {
    Mat3<double> F = Mat3<double>::zero();
    F(0, 0) = a;
    F(1, 1) = b;
    F(2, 2) = std::exp(log_c);
    return NeoHookean::energy(F, moduli);
  };
  const double share = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = nu < 0.0 ? -0.9 : -6.0, high = 6.0;
  for (int k = 0; k < 60; ++k) {
    const double left = high - share * (high - low), right = low + share * (high - low);
    (energy(left) < energy(right) ? high : low) = energy(left) < energy(right) ? right : left;
  }
  return energy(0.5 * (low + high));
}

TEST(NeoHookeanMembrane, has_the_least_energy_of_the_solid_law_over_all_stretches_across) {
  for (const double nu : {-0.2, 0.0, 0.25, 0.45})
    for (const double a : {0.4, 0.95, 1.2, 6.0})
      for (const double b : {0.7, 1.0, 3.0}) {
        const double expected = least_energy(a, b, 50.0, nu);
        EXPECT_NEAR(NeoHookeanMembrane().energy(pulled<NeoHookeanMembrane>(a, b, 50.0, nu)), expected,
                    1e-12 * (1.0 + expected))
            << nu << ' ' << a << ' ' << b;
      }
}

TEST(NeoHookeanMembrane, is_that_of_rubber_where_it_is_nearly_incompressible) {
  // µ/2 (a² + b² + 1/(a b)² - 3), up to a relative error of order (1 - 2 ν)/(a b)², also in strong compression.
  constexpr double nu = 0.5 - 1e-13, mu = 50.0 / (2.0 * (1.0 + nu));
  for (const double a : {0.01, 0.5, 4.0})
    for (const double b : {0.8, 1.5}) {
      const double expected = 0.5 * mu * (a * a + b * b + 1.0 / (a * a * b * b) - 3.0);
      EXPECT_NEAR(NeoHookeanMembrane().energy(pulled<NeoHookeanMembrane>(a, b, 50.0, nu)), expected, 1e-8 * expected);
    }
}

TEST(NeoHookeanMembrane, is_that_of_st_venant_and_kirchhoff_at_small_strains) {
  const auto difference = [](double strain) {
    const double a = 1.0 + strain, b = 1.0 - 0.7 * strain;
    const double small = MembraneEnergy().energy(pulled<MembraneEnergy>(a, b, 50.0, 0.3));
    return std::abs(NeoHookeanMembrane().energy(pulled<NeoHookeanMembrane>(a, b, 50.0, 0.3)) / small - 1.0);
  };
  EXPECT_LT(difference(1e-3), 3e-3);
  EXPECT_NEAR(difference(1e-2) / difference(1e-3), 10.0, 1.0);
}

TEST(NeoHookeanMembrane, has_no_value_without_area) {
  EXPECT_FALSE(std::isfinite(NeoHookeanMembrane().energy(pulled<NeoHookeanMembrane>(1.0, 0.0, 50.0, 0.3))));
  // For ν < 0 and strong compression, no stretch through the thickness gives zero stress.
  EXPECT_TRUE(std::isnan(NeoHookeanMembrane().energy(pulled<NeoHookeanMembrane>(0.01, 0.1, 50.0, -0.5))));
}

TEST(HingeEnergy, is_that_of_its_angle) {
  // Two halves of a unit square; the second half is rotated by 0.4 about the common diagonal. A₁ + A₂ = 1, l² = 2.
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

/// A hinge of two unequal triangles, bent in the rest shape and bent further in the deformed shape.
template <class F>
stencil::Values<F> folded() {
  stencil::Values<F> at{};
  at.X[0] = {{0.1, -0.4, 0.0}};
  at.X[1] = {{-0.1, 0.5, 0.1}};
  at.X[2] = {{-0.7, 0.1, 0.0}};
  at.X[3] = {{0.6, 0.2, 0.1}};
  for (int i = 0; i < 4; ++i) at.x[i] = {{1.1 * at.X[i][0], 0.9 * at.X[i][1], at.X[i][2] + 0.06 * i * i}};
  return at;
}

TEST(FabricHinge, has_its_derivatives) {
  for (const double y : {0.5, 0.0, -2.0}) {
    auto at = folded<FabricHinge>();
    const double p[] = {2.0, 0.5, 0.8, 0.9, y, 0.4};
    for (int k = 0; k < 6; ++k) at.p[k] = p[k];
    EXPECT_LE(testing_core::error_of_derivatives(FabricHinge(), at), 1e-13) << y;
  }
}

TEST(FabricHinge, is_a_hinge_where_all_directions_are_alike) {
  auto at = folded<FabricHinge>();
  auto alike = folded<HingeEnergy>();
  alike.p[0] = 0.7;
  const double expected = HingeEnergy().energy(alike);
  EXPECT_GT(expected, 1e-3);
  for (const double angle : {0.0, 0.4, 1.3, 2.5}) {
    const double p[] = {0.7, 0.7, 0.7, std::cos(angle), std::sin(angle), 0.2};
    for (int k = 0; k < 6; ++k) at.p[k] = p[k];
    EXPECT_NEAR(FabricHinge().energy(at), expected, 1e-15 + 1e-14 * expected) << angle;
  }
}

TEST(FabricHinge, has_the_stiffness_of_the_threads_that_it_bends) {
  // A flat hinge whose edge is along y bends threads along x.
  stencil::Values<FabricHinge> at{};
  const double X[4][2] = {{0.0, -1.0}, {0.0, 1.0}, {-2.0, 0.3}, {1.5, -0.2}};
  for (int i = 0; i < 4; ++i) at.X[i] = at.x[i] = {{X[i][0], X[i][1], 0.0}};
  at.x[3][2] = 0.4;
  stencil::Values<HingeEnergy> alike{};
  for (int i = 0; i < 4; ++i) {
    alike.X[i] = at.X[i];
    alike.x[i] = at.x[i];
  }
  alike.p[0] = 1.0;
  const double of_unit = HingeEnergy().energy(alike);
  const auto stiffness = [&](double angle) {
    // The component of the direction normal to the triangles has no effect.
    const double p[] = {5.0, 2.0, 0.3, 3.0 * std::cos(angle), 3.0 * std::sin(angle), 7.0};
    for (int k = 0; k < 6; ++k) at.p[k] = p[k];
    return FabricHinge().energy(at) / of_unit;
  };
  const double pi = std::acos(-1.0);
  EXPECT_NEAR(stiffness(0.0), 5.0, 1e-13);
  EXPECT_NEAR(stiffness(pi), 5.0, 1e-13);
  EXPECT_NEAR(stiffness(0.5 * pi), 2.0, 1e-13);
  EXPECT_NEAR(stiffness(0.25 * pi), (5.0 + 2.0 + 2.0 * 0.3) / 4.0, 1e-13);
  EXPECT_NEAR(stiffness(-0.25 * pi), (5.0 + 2.0 + 2.0 * 0.3) / 4.0, 1e-13);
  EXPECT_NEAR(stiffness(pi / 6.0), (9.0 * 5.0 + 2.0 + 6.0 * 0.3) / 16.0, 1e-13);
}

/// The triangle of `bent`, with threads along a direction that is neither in the triangle's plane nor normal to it.
template <class F, class... Numbers>
stencil::Values<F> woven(double size, Numbers... numbers) {
  stencil::Values<F> at = bent<F>(size);
  int k = 0;
  for (const double number : {double(numbers)..., 0.8, 0.5, -0.3}) at.p[k++] = number;
  return at;
}

TEST(FabricEnergy, has_its_derivatives) {
  EXPECT_LE(testing_core::error_of_derivatives(FabricEnergy(), woven<FabricEnergy>(0.2, 7.0, 4.0, 1.5, 0.3)), 1e-14);
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

/// A triangle in the xy plane, stretched by the factors 1 + a along x and 1 + b along y, with the warp along x.
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
    // The strain of both threads is in the range in which the barrier acts.
    EXPECT_GT(std::sqrt(dot(f, f)), 1.0 + 0.5 * limit);
    EXPECT_LT(std::sqrt(dot(f, f)), 1.0 + limit);
  }
  EXPECT_LE(testing_core::error_of_derivatives(FabricLimit(), at), 1e-13);
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
  // s = 2·0.15/0.2 - 1 = 1/2.
  EXPECT_NEAR(energy(0.15, 0.0), area * 0.04 / 8.0 * 50.0 * 0.0625 * std::log(2.0), 1e-14);
  EXPECT_NEAR(energy(-0.1, 0.15), area * 0.04 / 8.0 * 20.0 * 0.0625 * std::log(2.0), 1e-14);
  EXPECT_GT(energy(0.2 - 1e-12, 0.0), 3.0);
  EXPECT_TRUE(std::isnan(energy(0.201, 0.0)));
}

}  // namespace
}  // namespace diffsim::energies_test
