// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Every law at a point: what is written by hand against AD of the energy.

#include "diffsim/elastic/law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "diffsim/elastic/neo_hookean.hpp"
#include "diffsim/elastic/neo_hookean_quadratic.hpp"
#include "diffsim/elastic/stable_neo_hookean.hpp"

namespace diffsim {
namespace {

/// The same law with its energy alone, so that everything else comes by AD.
template <Law L>
struct EnergyOnly {
  static constexpr int num_moduli = L::num_moduli;
  static constexpr bool needs_positive_jacobian = L::needs_positive_jacobian;
  static constexpr auto parameters = L::parameters;
  template <class T>
  static T energy(const Mat3<T>& F, const T (&moduli)[num_moduli]) {
    return L::energy(F, moduli);
  }
};

Mat3<double> random_matrix(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  Mat3<double> a;
  for (int i = 0; i < 9; ++i) a(i / 3, i % 3) = number(random);
  return a;
}

Mat3<double> random_rotation(std::mt19937& random) {
  std::normal_distribution<double> number;
  double q[4], norm = 0.0;
  for (double& component : q) {
    component = number(random);
    norm += component * component;
  }
  for (double& component : q) component /= std::sqrt(norm);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

double largest(const Mat3<double>& a) {
  double m = 0.0;
  for (int i = 0; i < 9; ++i) m = std::max(m, std::abs(a(i / 3, i % 3)));
  return m;
}

template <class L>
class EveryLaw : public testing::Test {
 protected:
  EveryLaw() { L::moduli(parameters, moduli); }
  std::mt19937 random{3};
  double parameters[2] = {2.5, 0.3};
  double moduli[L::num_moduli];
};

using Laws = testing::Types<NeoHookean, NeoHookeanQuadratic, StableNeoHookean>;
TYPED_TEST_SUITE(EveryLaw, Laws);

TYPED_TEST(EveryLaw, hand_written_derivatives_agree_with_those_by_ad) {
  using L = TypeParam;
  for (int i = 0; i < 100; ++i) {
    const Mat3<double> F = Mat3<double>::identity() + random_matrix(this->random, 0.25);
    const Mat3<double> G = random_matrix(this->random, 1.0);
    const Mat3<double> P = stress_of<EnergyOnly<L>>(F, this->moduli);
    EXPECT_LE(largest(L::stress(F, this->moduli) - P), 1e-12 * largest(P));
    const Mat3<double> dP = stress_tangent_of<EnergyOnly<L>>(F, G, this->moduli);
    EXPECT_LE(largest(L::stress_tangent(F, G, this->moduli) - dP), 1e-12 * largest(dP));
    double by_hand[2], by_ad[2];
    L::stress_moduli(F, G, this->moduli, by_hand);
    stress_moduli_of<EnergyOnly<L>>(F, G, this->moduli, by_ad);
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(by_hand[k], by_ad[k], 1e-12 * std::max(1.0, std::abs(by_ad[k])));
  }
}

TYPED_TEST(EveryLaw, a_pack_is_as_good_as_a_number) {
  using L = TypeParam;
  const Mat3<double> F = Mat3<double>::identity() + random_matrix(this->random, 0.25);
  Mat3<Pack> packed;
  Pack packed_moduli[2] = {this->moduli[0], this->moduli[1]};
  for (int i = 0; i < 9; ++i) packed(i / 3, i % 3) = Pack(F(i / 3, i % 3));
  const Mat3<double> P = L::stress(F, this->moduli);
  const Mat3<Pack> packed_P = L::stress(packed, packed_moduli);
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(lane(packed_P(i / 3, i % 3), pack_width - 1), P(i / 3, i % 3), 1e-14 * largest(P));
}

TYPED_TEST(EveryLaw, nothing_at_rest_and_objective) {
  using L = TypeParam;
  const Mat3<double> rest = Mat3<double>::identity();
  EXPECT_NEAR(L::energy(rest, this->moduli), 0.0, 1e-15);
  EXPECT_LE(largest(L::stress(rest, this->moduli)), 1e-12);
  for (int i = 0; i < 100; ++i) {
    const Mat3<double> R = random_rotation(this->random);
    const Mat3<double> F = rest + random_matrix(this->random, 0.2);
    const double W = L::energy(F, this->moduli);
    EXPECT_NEAR(L::energy(R * F, this->moduli), W, 1e-12 * std::max(W, 1.0));
    EXPECT_LE(largest(L::stress(R * F, this->moduli) - R * L::stress(F, this->moduli)), 1e-12);
    EXPECT_LE(largest(L::stress(R, this->moduli)), 1e-12);
  }
}

TYPED_TEST(EveryLaw, small_strains_see_the_given_moduli) {
  using L = TypeParam;
  const double E = this->parameters[0], nu = this->parameters[1];
  const double mu = E / (2.0 * (1.0 + nu)), lambda = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
  const Mat3<double> rest = Mat3<double>::identity();
  const Mat3<double> H = random_matrix(this->random, 1.0);
  const Mat3<double> strain = 0.5 * (H + transpose(H));
  const Mat3<double> expected = 2.0 * mu * strain + lambda * trace(strain) * rest;
  EXPECT_LE(largest(L::stress_tangent(rest, H, this->moduli) - expected), 1e-12);
}

}  // namespace
}  // namespace diffsim
