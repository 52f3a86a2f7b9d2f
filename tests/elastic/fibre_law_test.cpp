// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Laws with fibres.

#include "elastic/active_fibre.hpp"

#include <cmath>
#include "elastic/holzapfel_gasser_ogden.hpp"
#include "elastic/law_testing.hpp"

namespace diffsim::fibre_law_test {
namespace {

using Laws = testing::Types<HolzapfelGasserOgden, ActiveFibre>;
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, EveryLaw, Laws, NameOfLaw);
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, ObjectiveLaw, Laws, NameOfLaw);

TEST(HolzapfelGasserOgden, small_strains_of_the_matrix_see_its_shear_and_bulk_moduli) {
  std::mt19937 random(4);
  const double shear = 0.8, bulk = 3.1;
  expect_hooke<HolzapfelGasserOgden>(shear, bulk - 2.0 / 3.0 * shear, {shear, bulk, 0.0, 0.9, 0.1, 1.0, 0.0, 0.0},
                                     random);
}

TEST(HolzapfelGasserOgden, fibres_pull_and_do_not_push) {
  // Uniaxial stretch along the fibre with J = 1; W is evaluated by hand.
  const double mu = 0.8, bulk = 3.1, k1 = 1.7, k2 = 0.9, kappa = 0.12;
  const double moduli[8] = {mu, bulk, k1, k2, kappa, 0.0, 0.0, 1.0};
  for (const double s : {0.7, 0.95, 1.05, 1.4}) {
    const double across = 1.0 / std::sqrt(s);
    const double I1 = s * s + 2.0 / s, E = kappa * (I1 - 3.0) + (1.0 - 3.0 * kappa) * (s * s - 1.0);
    const double fibres = s > 1.0 ? k1 / (2.0 * k2) * (std::exp(k2 * E * E) - 1.0) : 0.0;
    const Mat3<double> F = diagonal(across, across, s);
    EXPECT_NEAR(HolzapfelGasserOgden::energy(F, moduli), 0.5 * mu * (I1 - 3.0) + fibres, 1e-14);
  }
  // In the reference configuration the fibres contribute 4 k1 (1 - 3κ)² (2/3)² to the tangent for a stretch along them,
  // in addition to the matrix.
  const Mat3<double> along = diagonal(0.0, 0.0, 1.0);
  const double expected = 4.0 / 3.0 * mu + bulk + 4.0 * k1 * (1.0 - 3.0 * kappa) * (1.0 - 3.0 * kappa) * 4.0 / 9.0;
  EXPECT_NEAR(stress_tangent_of<HolzapfelGasserOgden>(Mat3<double>::identity(), along, moduli)(2, 2), expected, 1e-12);
}

TEST(ActiveFibre, pulls_along_the_fibre_as_told) {
  const double parameters[7] = {2.5, 0.3, 0.7, 0.4, 0.0, 2.0, 0.0};
  double moduli[6];
  ActiveFibre::moduli(parameters, moduli);
  const Mat3<double> active = ActiveFibre::stress(diagonal(1.1, 1.6, 0.8), moduli);
  const Mat3<double> passive = NeoHookean::stress(diagonal(1.1, 1.6, 0.8), {moduli[0], moduli[1]});
  EXPECT_LE(largest(active - passive - diagonal(0.0, 0.7 * 0.4, 0.0)), 1e-14);
}

TEST(ActiveFibre, small_strains_see_youngs_modulus_and_poissons_ratio) {
  const double E = 2.5, nu = 0.3, parameters[7] = {E, nu, 0.7, 0.0, 0.5, -1.2, 0.9};
  double moduli[6];
  ActiveFibre::moduli(parameters, moduli);
  std::mt19937 random(4);
  expect_hooke<ActiveFibre>(E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), moduli, random);
}

}  // namespace
}  // namespace diffsim::fibre_law_test
