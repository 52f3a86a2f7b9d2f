// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Laws that depend on the principal stretches.

#include "elastic/law_testing.hpp"
#include "elastic/mooney_rivlin.hpp"
#include "elastic/ogden.hpp"

namespace diffsim::ogden_law_test {
namespace {

using Laws = testing::Types<Ogden<1>, Ogden<2>, Ogden<3>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, EveryLaw, Laws, NameOfLaw);
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, ObjectiveLaw, Laws, NameOfLaw);

TEST(Ogden, small_strains_see_its_shear_and_bulk_moduli) {
  std::mt19937 random(4);
  const double shear = 0.5 * (0.63 * 1.3 + 0.2 * 5.0 + 0.1 * 2.0), bulk = 3.1;
  expect_hooke<Ogden<3>>(shear, bulk - 2.0 / 3.0 * shear, {0.63, 1.3, 0.2, 5.0, -0.1, -2.0, bulk}, random);
}

TEST(Ogden, is_its_function_of_the_stretches) {
  const double moduli[7] = {0.63, 1.3, 0.2, 5.0, -0.1, -2.0, 3.1};
  const auto energy = [&](const auto(&s)[3]) {
    using std::pow;
    const auto J = s[0] * s[1] * s[2];
    auto W = 0.5 * moduli[6] * (J - 1.0) * (J - 1.0);
    for (int p = 0; p < 3; ++p)
      for (int i = 0; i < 3; ++i)
        W += moduli[2 * p] / moduli[2 * p + 1] * (pow(s[i] / pow(J, 1.0 / 3.0), moduli[2 * p + 1]) - 1.0);
    return W;
  };
  std::mt19937 random(5);
  for (const auto& s : stretches) {
    const Mat3<double> U = random_rotation(random), V = random_rotation(random);
    const Mat3<double> F = U * diagonal(s[0], s[1], s[2]) * transpose(V);
    const double W = energy(s);
    EXPECT_NEAR(Ogden<3>::energy(F, moduli), W, 1e-12 * std::max(1.0, W));
    const Mat3<double> P = isotropic_stress(energy, U, s, V);
    EXPECT_LE(largest(Ogden<3>::stress(F, moduli) - P), 1e-12 * std::max(1.0, largest(P))) << s[0];
    // Tangents at repeated stretches: by AD of the stress, by AD of the energy twice, and by a complex step.
    const Mat3<double> G = random_matrix(random, 1.0);
    const Mat3<double> dP = stress_tangent_of<Ogden<3>>(F, G, moduli);
    const double size = std::max(1.0, largest(dP));
    EXPECT_LE(largest(stress_tangent_of<EnergyOnly<Ogden<3>>>(F, G, moduli) - dP), 1e-12 * size) << s[0];
    EXPECT_LE(largest(derivative(Ogden<3>::stress(step(F, G), Moduli<7>(moduli).value)) - dP), 1e-12 * size) << s[0];
  }
}

TEST(Ogden, of_exponents_2_and_minus_2_is_mooney_rivlin) {
  const double c10 = 0.6, c01 = 0.25, bulk = 3.1;
  const double mooney[3] = {c10, c01, bulk}, ogden[5] = {2.0 * c10, 2.0, -2.0 * c01, -2.0, bulk};
  std::mt19937 random(5);
  for (const auto& s : stretches) {
    const Mat3<double> F = random_rotation(random) * diagonal(s[0], s[1], s[2]) * random_rotation(random);
    const Mat3<double> G = random_matrix(random, 1.0);
    const double W = MooneyRivlin::energy(F, mooney);
    EXPECT_NEAR(Ogden<2>::energy(F, ogden), W, 1e-12 * std::max(1.0, W));
    const Mat3<double> P = MooneyRivlin::stress(F, mooney);
    EXPECT_LE(largest(Ogden<2>::stress(F, ogden) - P), 1e-12 * std::max(1.0, largest(P))) << s[0];
    const Mat3<double> dP = stress_tangent_of<MooneyRivlin>(F, G, mooney);
    EXPECT_LE(largest(stress_tangent_of<Ogden<2>>(F, G, ogden) - dP), 1e-12 * std::max(1.0, largest(dP))) << s[0];
  }
}

}  // namespace
}  // namespace diffsim::ogden_law_test
