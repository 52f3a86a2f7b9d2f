// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <random>
#include <string>

#include "core/scalar_traits.hpp"
#include "diffsim/elastic/law.hpp"

// Tests of every law at a point: derivatives compared with AD of the energy and with complex steps, reference
// configuration, objectivity, moduli.

namespace diffsim {

using Complex = std::complex<double>;

/// Traits of complex scalars. In a complex step the imaginary part is the infinitesimal.
template <>
struct ScalarTraits<Complex> {
  using Base = double;
  static constexpr int order = 1;
  static double base(const Complex& x) { return x.real(); }
  static Complex constant(double x) { return x; }
  static Complex scaled(const Complex& x, double factor) { return x * factor; }
};

/// A law reduced to its energy, so that AD provides all other functions.
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

// ---- matrices ------------------------------------------------------------------------------------------------

inline Mat3<double> random_matrix(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  Mat3<double> a;
  for (int i = 0; i < 9; ++i) a(i / 3, i % 3) = number(random);
  return a;
}

inline Mat3<double> random_rotation(std::mt19937& random) {
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

inline Mat3<double> diagonal(double a, double b, double c) { return {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}}; }

inline double largest(const Mat3<double>& a) {
  double m = 0.0;
  for (int i = 0; i < 9; ++i) m = std::max(m, std::abs(a(i / 3, i % 3)));
  return m;
}

// ---- complex steps (Squire & Trapp 1998): f'(x) = Im f(x + i h) / h, without cancellation ------------------------

inline constexpr double h = 1e-40;

inline Mat3<Complex> step(const Mat3<double>& F, const Mat3<double>& dF) {
  Mat3<Complex> result;
  for (int i = 0; i < 9; ++i) result(i / 3, i % 3) = Complex(F(i / 3, i % 3), h * dF(i / 3, i % 3));
  return result;
}

template <int K>
struct Moduli {
  Complex value[K];
  /// Sets the moduli. The imaginary step h is added to modulus `along`, unless `along` is -1.
  explicit Moduli(const double (&moduli)[K], int along = -1) {
    for (int k = 0; k < K; ++k) value[k] = Complex(moduli[k], k == along ? h : 0.0);
  }
};

inline Mat3<double> derivative(const Mat3<Complex>& a) {
  Mat3<double> result;
  for (int i = 0; i < 9; ++i) result(i / 3, i % 3) = a(i / 3, i % 3).imag() / h;
  return result;
}

template <class L, int K>
[[gnu::noinline]] Mat3<double> stress_by_complex_step(const Mat3<double>& F, const double (&moduli)[K]) {
  Mat3<double> P;
  for (int i = 0; i < 9; ++i) {
    Mat3<double> unit{};
    unit(i / 3, i % 3) = 1.0;
    P(i / 3, i % 3) = L::energy(step(F, unit), Moduli<K>(moduli).value).imag() / h;
  }
  return P;
}

/// ∂W/∂F by forward AD with nine directions on complex scalars. This method differs from the library's and compiles
/// faster.
template <class L, int K>
[[gnu::noinline]] Mat3<Complex> stress_by_nine_directions(const Mat3<Complex>& F, const Complex (&moduli)[K]) {
  using D = Dual<Complex, 9>;
  Mat3<D> variable;
  D constant[K];
  for (int i = 0; i < 9; ++i) variable(i / 3, i % 3) = D::variable(F(i / 3, i % 3), i);
  for (int k = 0; k < K; ++k) constant[k] = D::constant(moduli[k]);
  const D energy = L::energy(variable, constant);
  Mat3<Complex> P;
  for (int i = 0; i < 9; ++i) P(i / 3, i % 3) = energy.derivative[i];
  return P;
}

// ---- the tested functions, compiled once per law instead of at each call ------------------------------------------

template <class L, class T, int K>
[[gnu::noinline]] T energy(const Mat3<T>& F, const T (&moduli)[K]) {
  return L::energy(F, moduli);
}
template <class L, class T, int K>
[[gnu::noinline]] Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[K]) {
  return stress_of<L>(F, moduli);
}
template <class L, class T, int K>
[[gnu::noinline]] Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[K]) {
  return stress_tangent_of<L>(F, dF, moduli);
}

// ---- the laws ------------------------------------------------------------------------------------------------

/// Returns a value of a parameter for which stresses are about 1.
constexpr double example(const ParameterSpec& spec) { return (spec.unit == "Pa" ? 1.25e-4 : 1.0) * spec.sample; }

template <class L>
class EveryLaw : public testing::Test {
 protected:
  static constexpr int num_parameters = static_cast<int>(L::parameters.size());

  EveryLaw() {
    for (int i = 0; i < num_parameters; ++i) parameters[i] = example(L::parameters[static_cast<std::size_t>(i)]);
    L::moduli(parameters, moduli);
  }
  /// Returns a deformation gradient near the identity, with J > 0.
  Mat3<double> deformation(double size = 0.25) { return Mat3<double>::identity() + random_matrix(random, size); }
  void set(const std::string& name, double value) {
    for (int i = 0; i < num_parameters; ++i)
      if (L::parameters[static_cast<std::size_t>(i)].name == name) parameters[i] = value;
    L::moduli(parameters, moduli);
  }

  std::mt19937 random{3};
  double parameters[num_parameters];
  double moduli[L::num_moduli];
};

struct NameOfLaw {
  template <class L>
  static std::string GetName(int) {
    return L::name;
  }
};

// ---- tests of every law ----------------------------------------------------------------------------------------

TYPED_TEST_SUITE_P(EveryLaw);

TYPED_TEST_P(EveryLaw, derivatives_agree_with_those_by_ad) {
  using L = TypeParam;
  constexpr int K = L::num_moduli;
  for (int i = 0; i < 100; ++i) {
    const Mat3<double> F = this->deformation();
    const Mat3<double> G = random_matrix(this->random, 1.0);
    const Mat3<double> P = stress<EnergyOnly<L>>(F, this->moduli);
    EXPECT_LE(largest(stress<L>(F, this->moduli) - P), 1e-12 * largest(P));
    const Mat3<double> dP = stress_tangent<EnergyOnly<L>>(F, G, this->moduli);
    EXPECT_LE(largest(stress_tangent<L>(F, G, this->moduli) - dP), 1e-12 * largest(dP));
    double out[K], by_ad[K];
    stress_moduli_of<L>(F, G, this->moduli, out);
    stress_moduli_of<EnergyOnly<L>>(F, G, this->moduli, by_ad);
    for (int k = 0; k < K; ++k) EXPECT_NEAR(out[k], by_ad[k], 1e-12 * std::max(1.0, std::abs(by_ad[k])));
  }
}

TYPED_TEST_P(EveryLaw, derivatives_agree_with_complex_steps) {
  using L = TypeParam;
  constexpr int K = L::num_moduli;
  for (int i = 0; i < 100; ++i) {
    const Mat3<double> F = this->deformation();
    const Mat3<double> G = random_matrix(this->random, 1.0);
    const Mat3<double> P = stress_by_complex_step<L>(F, this->moduli);
    EXPECT_LE(largest(stress<L>(F, this->moduli) - P), 1e-12 * largest(P));
    const Mat3<double> dP = derivative(stress_by_nine_directions<L>(step(F, G), Moduli<K>(this->moduli).value));
    EXPECT_LE(largest(stress_tangent<L>(F, G, this->moduli) - dP), 1e-12 * largest(dP));
    double out[K];
    stress_moduli_of<L>(F, G, this->moduli, out);
    for (int k = 0; k < K; ++k) {
      const Mat3<double> by_modulus =
          derivative(stress_by_nine_directions<L>(step(F, Mat3<double>{}), Moduli<K>(this->moduli, k).value));
      EXPECT_NEAR(out[k], inner(by_modulus, G), 1e-12 * std::max(1.0, std::abs(out[k])));
    }
  }
}

TYPED_TEST_P(EveryLaw, moduli_have_derivatives_by_the_parameters) {
  using L = TypeParam;
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Dual<double, P> variable[P], by_ad[K];
  for (int i = 0; i < P; ++i) variable[i] = Dual<double, P>::variable(this->parameters[i], i);
  L::moduli(variable, by_ad);
  for (int i = 0; i < P; ++i) {
    Complex by_step[K];
    L::moduli(Moduli<P>(this->parameters, i).value, by_step);
    for (int k = 0; k < K; ++k)
      EXPECT_NEAR(by_ad[k].derivative[i], by_step[k].imag() / h,
                  1e-12 * std::max(1.0, std::abs(by_ad[k].derivative[i])))
          << L::parameters[static_cast<std::size_t>(i)].name << ", modulus " << k;
  }
}

TYPED_TEST_P(EveryLaw, a_pack_is_as_good_as_a_number) {
  using L = TypeParam;
  constexpr int K = L::num_moduli;
  double lanes[9][pack_width], direction[9][pack_width];
  for (int l = 0; l < pack_width; ++l) {
    const Mat3<double> F = this->deformation(), G = random_matrix(this->random, 1.0);
    for (int i = 0; i < 9; ++i) {
      lanes[i][l] = F(i / 3, i % 3);
      direction[i][l] = G(i / 3, i % 3);
    }
  }
  Mat3<Pack> packed_F, packed_G;
  for (int i = 0; i < 9; ++i) {
    packed_F(i / 3, i % 3) = load(lanes[i]);
    packed_G(i / 3, i % 3) = load(direction[i]);
  }
  Pack packed_moduli[K], packed_out[K];
  for (int k = 0; k < K; ++k) packed_moduli[k] = this->moduli[k];
  const Pack packed_W = energy<L>(packed_F, packed_moduli);
  const Mat3<Pack> packed_P = stress<L>(packed_F, packed_moduli);
  const Mat3<Pack> packed_dP = stress_tangent<L>(packed_F, packed_G, packed_moduli);
  stress_moduli_of<L>(packed_F, packed_G, packed_moduli, packed_out);
  for (int l = 0; l < pack_width; ++l) {
    Mat3<double> F, G;
    for (int i = 0; i < 9; ++i) {
      F(i / 3, i % 3) = lanes[i][l];
      G(i / 3, i % 3) = direction[i][l];
    }
    const double W = energy<L>(F, this->moduli);
    EXPECT_NEAR(lane(packed_W, l), W, 1e-14 * std::max(1.0, W));
    const Mat3<double> P = stress<L>(F, this->moduli);
    const Mat3<double> dP = stress_tangent<L>(F, G, this->moduli);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(lane(packed_P(i / 3, i % 3), l), P(i / 3, i % 3), 3e-14 * largest(P));
      EXPECT_NEAR(lane(packed_dP(i / 3, i % 3), l), dP(i / 3, i % 3), 3e-14 * largest(dP));
    }
    double out[K];
    stress_moduli_of<L>(F, G, this->moduli, out);
    for (int k = 0; k < K; ++k) EXPECT_NEAR(lane(packed_out[k], l), out[k], 3e-14 * std::max(1.0, std::abs(out[k])));
  }
}

TYPED_TEST_P(EveryLaw, nothing_at_rest) {
  using L = TypeParam;
  this->set("activation", 0.0);
  const Mat3<double> rest = Mat3<double>::identity();
  EXPECT_NEAR(energy<L>(rest, this->moduli), 0.0, 1e-14);
  EXPECT_LE(largest(stress<L>(rest, this->moduli)), 1e-12);
  // In the reference configuration all stretches are equal. The tangent still exists and equals that by AD of the
  // energy.
  const Mat3<double> G = random_matrix(this->random, 1.0);
  const Mat3<double> dP = stress_tangent<EnergyOnly<L>>(rest, G, this->moduli);
  EXPECT_LE(largest(stress_tangent<L>(rest, G, this->moduli) - dP), 1e-12 * largest(dP));
}

REGISTER_TYPED_TEST_SUITE_P(EveryLaw, derivatives_agree_with_those_by_ad, derivatives_agree_with_complex_steps,
                            moduli_have_derivatives_by_the_parameters, a_pack_is_as_good_as_a_number, nothing_at_rest);

/// All laws except the law of small strains, for which a rotation causes strain.
template <class L>
class ObjectiveLaw : public EveryLaw<L> {};
TYPED_TEST_SUITE_P(ObjectiveLaw);

TYPED_TEST_P(ObjectiveLaw, turns_with_the_body) {
  using L = TypeParam;
  for (int i = 0; i < 100; ++i) {
    const Mat3<double> R = random_rotation(this->random);
    const Mat3<double> F = this->deformation(0.2);
    const double W = energy<L>(F, this->moduli);
    EXPECT_NEAR(energy<L>(R * F, this->moduli), W, 1e-12 * std::max(W, 1.0));
    EXPECT_LE(largest(stress<L>(R * F, this->moduli) - R * stress<L>(F, this->moduli)), 1e-12);
  }
}

TYPED_TEST_P(ObjectiveLaw, rests_in_any_orientation) {
  using L = TypeParam;
  this->set("activation", 0.0);
  for (int i = 0; i < 100; ++i) EXPECT_LE(largest(stress<L>(random_rotation(this->random), this->moduli)), 1e-12);
}

REGISTER_TYPED_TEST_SUITE_P(ObjectiveLaw, turns_with_the_body, rests_in_any_orientation);

/// Compares dP in the reference configuration with Hooke's law.
template <class L, int K>
void expect_hooke(double mu, double lambda, const double (&moduli)[K], std::mt19937& random) {
  const Mat3<double> rest = Mat3<double>::identity();
  for (int i = 0; i < 10; ++i) {
    const Mat3<double> H = random_matrix(random, 1.0);
    const Mat3<double> strain = 0.5 * (H + transpose(H));
    const Mat3<double> expected = 2.0 * mu * strain + lambda * trace(strain) * rest;
    EXPECT_LE(largest(stress_tangent<L>(rest, H, moduli) - expected), 1e-12);
  }
}

// ---- laws of the principal stretches -------------------------------------------------------------------------------

/// Returns P = U diag(∂W/∂s) Vᵀ at F = U diag(s) Vᵀ, with ∂W/∂s of W(s) by complex steps.
template <class Energy>
Mat3<double> isotropic_stress(const Energy& energy, const Mat3<double>& U, const double (&s)[3],
                              const Mat3<double>& V) {
  double slope[3];
  for (int i = 0; i < 3; ++i) {
    Complex at[3] = {s[0], s[1], s[2]};
    at[i] += Complex(0.0, h);
    slope[i] = energy(at).imag() / h;
  }
  return U * diagonal(slope[0], slope[1], slope[2]) * transpose(V);
}

/// Stretches that are distinct, equal in pairs, all equal, and far from 1.
inline constexpr double stretches[][3] = {{1.3, 1.0, 0.8}, {1.2, 1.2, 0.7},        {0.9, 1.1, 1.1}, {1.5, 1.5, 1.5},
                                          {1.0, 1.0, 1.0}, {1.0, 1.0 + 1e-9, 0.9}, {3.0, 0.5, 0.4}, {10.0, 0.2, 0.2}};

}  // namespace diffsim
