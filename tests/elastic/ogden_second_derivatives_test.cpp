// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Second derivatives of the stress of Ogden's laws, including repeated stretches.

#include "elastic/law_testing.hpp"
#include "elastic/ogden.hpp"

namespace diffsim::ogden_second_derivatives_test {

// These suites are instantiated in ogden_law_test.cpp.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryLaw);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ObjectiveLaw);

namespace {

/// Returns ∂/∂s of ∂P/∂F : G at F + s H and moduli + s m.
template <class L, int K>
[[gnu::noinline]] Mat3<double> second_derivative(const Mat3<double>& F, const Mat3<double>& G, const Mat3<double>& H,
                                                 const double (&moduli)[K], const double (&m)[K]) {
  using D = Dual<double, 1>;
  Mat3<D> moving, direction;
  D moving_moduli[K];
  for (int i = 0; i < 9; ++i) {
    moving(i / 3, i % 3) = D::constant(F(i / 3, i % 3));
    moving(i / 3, i % 3).derivative[0] = H(i / 3, i % 3);
    direction(i / 3, i % 3) = D::constant(G(i / 3, i % 3));
  }
  for (int k = 0; k < K; ++k) {
    moving_moduli[k] = D::constant(moduli[k]);
    moving_moduli[k].derivative[0] = m[k];
  }
  const Mat3<D> dP = stress_tangent_of<L>(moving, direction, moving_moduli);
  Mat3<double> result;
  for (int i = 0; i < 9; ++i) result(i / 3, i % 3) = dP(i / 3, i % 3).derivative[0];
  return result;
}

/// Ogden's law with the exponents 4 and -4 in terms of traces of powers of C, which need no principal stretches:
/// W = µ1/4 (J^(-4/3) C : C - 3) - µ2/4 (J^(4/3) C⁻¹ : C⁻¹ - 3) + κ/2 (J - 1)², C⁻¹ = cof C / J².
struct Quartic {
  static constexpr int num_moduli = 3;
  static constexpr bool needs_positive_jacobian = true;
  static constexpr std::array<ParameterSpec, 3> parameters{
      detail::ogden_modulus("mu_1", 0.63), detail::ogden_modulus("mu_2", 0.2), ElasticParameters::bulk_modulus};
  template <class T>
  static T energy(const Mat3<T>& F, const T (&moduli)[3]) {
    const T J = determinant(F);
    const Mat3<T> C = transpose(F) * F, cof = cofactor(C);
    return 0.25 * moduli[0] * (pow(J, -4.0 / 3.0) * inner(C, C) - 3.0) -
           0.25 * moduli[1] * (pow(J, 4.0 / 3.0 - 4.0) * inner(cof, cof) - 3.0) +
           0.5 * moduli[2] * (J - 1.0) * (J - 1.0);
  }
};

TEST(Ogden, has_second_derivatives_at_repeated_stretches) {
  const double quartic[3] = {0.6, -0.25, 3.1}, ogden[5] = {0.6, 4.0, -0.25, -4.0, 3.1};
  std::mt19937 random(6);
  for (const auto& s : stretches) {
    const Mat3<double> F = random_rotation(random) * diagonal(s[0], s[1], s[2]) * random_rotation(random);
    const Mat3<double> G = random_matrix(random, 1.0), H = random_matrix(random, 1.0);
    const Mat3<double> expected = second_derivative<Quartic>(F, G, H, quartic, {0.3, 0.2, -0.7});
    const Mat3<double> found = second_derivative<Ogden<2>>(F, G, H, ogden, {0.3, 0.0, 0.2, 0.0, -0.7});
    EXPECT_LE(largest(found - expected), 1e-11 * std::max(1.0, largest(expected))) << s[0] << " " << s[1];
  }
}

/// Second derivatives for general exponents, including derivatives with respect to the moduli, compared with central
/// differences of fourth order.
TEST(Ogden, has_second_derivatives_by_exponents) {
  const double moduli[7] = {0.63, 1.3, 0.2, 5.0, -0.1, -2.0, 3.1}, m[7] = {0.3, 0.4, -0.2, 1.0, 0.1, -0.7, 0.5};
  std::mt19937 random(7);
  for (const auto& s : stretches) {
    if (s[0] > 2.0) continue;
    const Mat3<double> F = random_rotation(random) * diagonal(s[0], s[1], s[2]) * random_rotation(random);
    const Mat3<double> G = random_matrix(random, 1.0), H = random_matrix(random, 1.0);
    const auto tangent = [&](double t) {
      double moved[7];
      for (int k = 0; k < 7; ++k) moved[k] = moduli[k] + t * m[k];
      return stress_tangent_of<Ogden<3>>(F + t * H, G, moved);
    };
    const auto difference = [&](double t) { return (1.0 / (2.0 * t)) * (tangent(t) - tangent(-t)); };
    const double t = 1e-3;
    const Mat3<double> expected = (1.0 / 3.0) * (4.0 * difference(t) - difference(2.0 * t));
    const Mat3<double> found = second_derivative<Ogden<3>>(F, G, H, moduli, m);
    EXPECT_LE(largest(found - expected), 1e-8 * largest(expected)) << s[0] << " " << s[1];
  }
}

}  // namespace
}  // namespace diffsim::ogden_second_derivatives_test
