// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Laws without fibres or exponents.

#include "elastic/fixed_corotated.hpp"
#include "elastic/law_testing.hpp"
#include "elastic/linear_elastic.hpp"
#include "elastic/mooney_rivlin.hpp"
#include "elastic/neo_hookean.hpp"
#include "elastic/neo_hookean_quadratic.hpp"
#include "elastic/st_venant_kirchhoff.hpp"
#include "elastic/stable_neo_hookean.hpp"

namespace diffsim::law_test {
namespace {

using Laws = testing::Types<NeoHookean, NeoHookeanQuadratic, StableNeoHookean, LinearElastic, StVenantKirchhoff,
                            FixedCorotated, MooneyRivlin>;
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, EveryLaw, Laws, NameOfLaw);
using ObjectiveLaws =
    testing::Types<NeoHookean, NeoHookeanQuadratic, StableNeoHookean, StVenantKirchhoff, FixedCorotated, MooneyRivlin>;
INSTANTIATE_TYPED_TEST_SUITE_P(Laws, ObjectiveLaw, ObjectiveLaws, NameOfLaw);

template <class L>
class LawOfYoungsModulus : public EveryLaw<L> {};
using LawsOfYoungsModulus =
    testing::Types<NeoHookean, NeoHookeanQuadratic, StableNeoHookean, LinearElastic, StVenantKirchhoff, FixedCorotated>;
TYPED_TEST_SUITE(LawOfYoungsModulus, LawsOfYoungsModulus, NameOfLaw);

TYPED_TEST(LawOfYoungsModulus, small_strains_see_it_and_poissons_ratio) {
  const double E = example(ElasticParameters::youngs_modulus), nu = example(ElasticParameters::poisson_ratio);
  expect_hooke<TypeParam>(E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), this->moduli, this->random);
}

TEST(MooneyRivlin, small_strains_see_its_shear_and_bulk_moduli) {
  std::mt19937 random(4);
  const double shear = 2.0 * (0.6 + 0.25), bulk = 3.1;
  expect_hooke<MooneyRivlin>(shear, bulk - 2.0 / 3.0 * shear, {0.6, 0.25, bulk}, random);
}

TEST(FixedCorotated, is_its_function_of_the_stretches) {
  const double moduli[2] = {0.9, 1.4};
  const auto energy = [&](const auto(&s)[3]) {
    const auto J = s[0] * s[1] * s[2] - 1.0;
    return moduli[0] * ((s[0] - 1.0) * (s[0] - 1.0) + (s[1] - 1.0) * (s[1] - 1.0) + (s[2] - 1.0) * (s[2] - 1.0)) +
           0.5 * moduli[1] * J * J;
  };
  std::mt19937 random(5);
  const auto check = [&](const double(&s)[3]) {
    const Mat3<double> U = random_rotation(random), V = random_rotation(random);
    const Mat3<double> F = U * diagonal(s[0], s[1], s[2]) * transpose(V);
    EXPECT_NEAR(FixedCorotated::energy(F, moduli), energy(s), 1e-13 * std::max(1.0, inner(F, F)));
    const Mat3<double> P = isotropic_stress(energy, U, s, V);
    EXPECT_LE(largest(FixedCorotated::stress(F, moduli) - P), 1e-12 * std::max(1.0, largest(P)));
    const Mat3<double> G = random_matrix(random, 1.0);
    const Mat3<double> dP = derivative(FixedCorotated::stress(step(F, G), Moduli<2>(moduli).value));
    EXPECT_LE(largest(FixedCorotated::stress_tangent(F, G, moduli) - dP), 1e-12 * std::max(1.0, largest(dP)));
  };
  for (const auto& s : stretches) check(s);
  // Inverted and flat cells: the smallest stretch is negative or zero.
  check({1.3, 1.0, -0.4});
  check({0.9, 0.9, -0.2});
  check({1.1, 0.7, 0.0});
}

}  // namespace
}  // namespace diffsim::law_test
