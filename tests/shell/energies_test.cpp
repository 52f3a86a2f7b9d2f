// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Energies of one membrane and one hinge, and their derivatives by formulas against Dual numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "core/energy_derivatives.hpp"
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

}  // namespace
}  // namespace diffsim
