// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "core/scalar_traits.hpp"
#include "diffsim/elastic/impl/spectral.hpp"
#include "diffsim/elastic/law.hpp"

namespace diffsim {

namespace detail {
constexpr ParameterSpec ogden_modulus(std::string_view name, double sample) {
  return {.name = name,
          .unit = "Pa",
          .meaning = "modulus of a term of Ogden's law",
          .sample = sample,
          .home = ParameterHome::cells};
}
constexpr ParameterSpec ogden_exponent(std::string_view name, double sample) {
  return {.name = name,
          .meaning = "exponent of a term of Ogden's law",
          .range = Interval::but_zero(),
          .sample = sample,
          .home = ParameterHome::cells};
}

template <int N>
struct OgdenNames;
template <>
struct OgdenNames<1> {
  static constexpr const char* name = "ogden_1";
  static constexpr std::array<ParameterSpec, 3> parameters{ogden_modulus("mu_1", 4e3), ogden_exponent("alpha_1", 2.5),
                                                           ElasticParameters::bulk_modulus};
};
template <>
struct OgdenNames<2> {
  static constexpr const char* name = "ogden_2";
  static constexpr std::array<ParameterSpec, 5> parameters{ogden_modulus("mu_1", 4e3), ogden_exponent("alpha_1", 2.5),
                                                           ogden_modulus("mu_2", -1e3), ogden_exponent("alpha_2", -1.5),
                                                           ElasticParameters::bulk_modulus};
};
template <>
struct OgdenNames<3> {
  static constexpr const char* name = "ogden_3";
  static constexpr std::array<ParameterSpec, 7> parameters{
      ogden_modulus("mu_1", 4e3),      ogden_exponent("alpha_1", 2.5), ogden_modulus("mu_2", -1e3),
      ogden_exponent("alpha_2", -1.5), ogden_modulus("mu_3", 500.0),   ogden_exponent("alpha_3", 4.0),
      ElasticParameters::bulk_modulus};
};

/// Parameters µ1, α1, …, µN, αN, κ of Ogden's law with N terms (see `Ogden`). The number N of terms is stored in the
/// member `count` and is not a template parameter, so that functions of the parameters are compiled once for all N.
template <class T>
struct OgdenTerms {
  const T* moduli;
  int count;
  DIFFSIM_FUNCTION const T& mu(int p) const { return moduli[2 * p]; }
  DIFFSIM_FUNCTION const T& alpha(int p) const { return moduli[2 * p + 1]; }
  DIFFSIM_FUNCTION const T& bulk() const { return moduli[2 * count]; }
};

/// Returns Qᵀ A Q for a matrix A with entries of the scalar type T, and a matrix Q without derivatives, whose entries
/// have the base type of T (double or Pack).
template <class T>
DIFFSIM_SHARED_FUNCTION Mat3<T> turned(const Mat3<T>& A, const Mat3<typename ScalarTraits<T>::Base>& Q) {
  using Traits = ScalarTraits<T>;
  Mat3<T> AQ, result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      AQ(i, j) = Traits::scaled(A(i, 0), Q(0, j)) + Traits::scaled(A(i, 1), Q(1, j)) + Traits::scaled(A(i, 2), Q(2, j));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result(i, j) =
          Traits::scaled(AQ(0, j), Q(0, i)) + Traits::scaled(AQ(1, j), Q(1, i)) + Traits::scaled(AQ(2, j), Q(2, i));
  return result;
}

/// Matrix Q of the eigenvectors of the right Cauchy–Green tensor C = FᵀF of the deformation gradient F. Q has no
/// derivatives. In Qᵀ C Q = Λ + E, Λ is the diagonal matrix of the eigenvalues Λi = λi² of C, λi are the principal
/// stretches, and E contains the derivatives of C (see `Ogden`). E is zero if the scalar type T has no derivatives.
/// OgdenFrame computes the divided differences with which functions of C = Q (Λ + E) Qᵀ are expanded in powers of E.
template <class T>
struct OgdenFrame {
  using Traits = ScalarTraits<T>;
  using Base = typename Traits::Base;
  using Terms = OgdenTerms<T>;
  Mat3<T> cof, C;  // cof F; and Qᵀ C Q = Λ + E
  Mat3<Base> Q;
  T J, ln_J;
  T log_stretch[3];  // ln λ̄i with λ̄i = J^(-1/3) λi, including the derivatives from the diagonal of E
  Base log_J;
  Base log_eigenvalue[3];  // ln of the diagonal of Λ

  explicit DIFFSIM_SHARED_FUNCTION OgdenFrame(const Mat3<T>& F) : cof(cofactor(F)) {
    using std::log;
    J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    ln_J = log(J);
    log_J = Traits::base(ln_J);
    C = transpose(F) * F;
    Mat3<Base> base;
    for (int i = 0; i < 9; ++i) base(i / 3, i % 3) = Traits::base(C(i / 3, i % 3));
    Q = symmetric_eigen(base).vectors;
    C = turned(C, Q);
    for (int i = 0; i < 3; ++i) {
      const T ln_C = log(C(i, i));
      log_stretch[i] = 0.5 * ln_C - (1.0 / 3.0) * ln_J;
      log_eigenvalue[i] = Traits::base(ln_C);
    }
  }

  /// Returns the first Piola stress F Q g Qᵀ + `pressure` cof F for the arguments `g` and `pressure`, where the columns
  /// of Q are the eigenvectors of C = FᵀF.
  DIFFSIM_SHARED_FUNCTION Mat3<T> stress(const Mat3<T>& F, const Mat3<T>& g, const T& pressure) const {
    return F * turned(g, transpose(Q)) + pressure * cof;
  }

  /// Returns λ̄i^αp, where λ̄i = J^(-1/3) λi is isochoric principal stretch i and αp is the exponent of term p of Ogden's
  /// law.
  DIFFSIM_FUNCTION T power(const Terms& terms, int p, int i) const {
    using std::exp;
    return exp(terms.alpha(p) * log_stretch[i]);
  }
  /// Returns the sum Σ_p µp J^(-αp/3) d(αp/2 - 1) over the terms p of Ogden's law, where the function d is
  /// `difference_of_power`, for example the divided difference d(q) of z^q at two given points.
  template <class Difference>
  DIFFSIM_FUNCTION Base sum_of(const Terms& terms, const Difference& difference_of_power) const {
    using std::exp;
    Base sum = Base(0.0);
    for (int p = 0; p < terms.count; ++p) {
      const Base mu = Traits::base(terms.mu(p)), alpha = Traits::base(terms.alpha(p));
      sum = sum + mu * exp((-1.0 / 3.0) * (alpha * log_J)) * difference_of_power(Base(0.5 * alpha - 1.0));
    }
    return sum;
  }
  /// Returns the divided difference g[Λi, Λj] = (g(Λi) - g(Λj))/(Λi - Λj) of g(z) = Σ_p µp J^(-αp/3) z^(αp/2 - 1) at
  /// the eigenvalues Λi and Λj of C = FᵀF.
  DIFFSIM_SHARED_FUNCTION Base difference(int i, int j, const Terms& terms) const {
    return sum_of(terms, [&](const Base& q)
                             DIFFSIM_INLINED { return power_difference(q, log_eigenvalue[i], log_eigenvalue[j]); });
  }
  /// Returns the divided difference f'[Λi, Λj] = (f'(Λi) - f'(Λj))/(Λi - Λj) of f'(z) = Σ_p αp/2 µp J^(-αp/3) z^(αp/2 -
  /// 1) at the eigenvalues Λi and Λj of C = FᵀF. The function f' is the derivative of f(z) = z g(z) with g(z) = Σ_p µp
  /// J^(-αp/3) z^(αp/2 - 1).
  DIFFSIM_SHARED_FUNCTION Base trace_difference(int i, int j, const Terms& terms) const {
    return sum_of(terms, [&](const Base& q) DIFFSIM_INLINED {
      return Base((q + 1.0) * power_difference(q, log_eigenvalue[i], log_eigenvalue[j]));
    });
  }
  /// Returns the second divided difference g[Λi, Λk, Λj] of g(z) = Σ_p µp J^(-αp/3) z^(αp/2 - 1) at eigenvalues of C =
  /// FᵀF.
  DIFFSIM_SHARED_FUNCTION Base second_difference(int i, int k, int j, const Terms& terms) const {
    return sum_of(terms, [&](const Base& q) DIFFSIM_INLINED {
      return power_second_difference(q, log_eigenvalue[i], log_eigenvalue[k], log_eigenvalue[j]);
    });
  }
  /// Returns the divided difference g[Λi + E_ii, Λj + E_jj] of g(z) = Σ_p µp J^(-αp/3) z^(αp/2 - 1) at the diagonal
  /// entries Λi + E_ii and Λj + E_jj of Qᵀ C Q = Λ + E, including the derivatives that E contains.
  DIFFSIM_SHARED_FUNCTION T moving_difference(int i, int j, const Terms& terms) const {
    using std::exp, std::log;
    const T x = log(C(i, i)), y = log(C(j, j));
    T sum = T(0.0);
    for (int p = 0; p < terms.count; ++p) {
      const T& alpha = terms.alpha(p);
      sum = sum + terms.mu(p) * exp((-1.0 / 3.0) * (alpha * ln_J)) * power_difference(T(0.5 * alpha - 1.0), x, y);
    }
    return sum;
  }
  /// Computes the off-diagonal entry g_ij, j = (i + 1) mod 3, of the matrix g(Λ + E) (see `Ogden`), with the terms of
  /// first and second order in E. Adds the terms of second order in E_ij to the diagonal entries g_ii and g_jj of g(Λ +
  /// E) and to tr(g(C) C).
  DIFFSIM_SHARED_FUNCTION void add_second_order(int i, const Terms& terms, Mat3<T>& g, T& trace_gC) const {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const T square = C(i, j) * C(i, j);
    g(i, j) =
        moving_difference(i, j, terms) * C(i, j) + Traits::scaled(C(i, k) * C(k, j), second_difference(i, k, j, terms));
    g(i, i) = g(i, i) + Traits::scaled(square, second_difference(i, j, i, terms));
    g(j, j) = g(j, j) + Traits::scaled(square, second_difference(j, i, j, terms));
    // Second-order terms of tr f, where f(z) = z g(z).
    trace_gC = trace_gC + Traits::scaled(square, trace_difference(i, j, terms));
  }
};

/// Returns the energy W of Ogden's law in J/m³.
template <class T>
DIFFSIM_SHARED_FUNCTION T ogden_energy(const Mat3<T>& F, const OgdenTerms<T>& terms) {
  using Traits = ScalarTraits<T>;
  static_assert(Traits::order <= 2, "the energy is expanded to second order");
  const OgdenFrame<T> frame(F);
  T W = 0.5 * terms.bulk() * (frame.J - 1.0) * (frame.J - 1.0);
  for (int p = 0; p < terms.count; ++p) {
    T sum = T(-3.0);
    for (int i = 0; i < 3; ++i) sum = sum + frame.power(terms, p, i);
    W = W + terms.mu(p) / terms.alpha(p) * sum;
  }
  if constexpr (Traits::order == 2) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      // Second-order terms of tr f, where f(z) = Σ_p µp/αp J^(-αp/3) z^(αp/2) and f' = g/2.
      W = W + Traits::scaled(frame.C(i, j) * frame.C(i, j), 0.5 * frame.difference(i, j, terms));
    }
  }
  return W;
}

/// Returns the first Piola stress P of Ogden's law.
template <class T>
DIFFSIM_SHARED_FUNCTION Mat3<T> ogden_stress(const Mat3<T>& F, const OgdenTerms<T>& terms) {
  using Traits = ScalarTraits<T>;
  static_assert(Traits::order <= 2, "the stress is expanded to second order");
  const OgdenFrame<T> frame(F);
  Mat3<T> g = Mat3<T>::zero();  // off-diagonal entries stay zero if T has no derivatives: E_ij is then a rounding error
  T trace_gC = T(0.0);
  for (int i = 0; i < 3; ++i) {
    T sum = T(0.0);
    for (int p = 0; p < terms.count; ++p) sum = sum + terms.mu(p) * frame.power(terms, p, i);
    trace_gC = trace_gC + sum;
    g(i, i) = sum / frame.C(i, i);
  }
  if constexpr (Traits::order > 0) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      if constexpr (Traits::order == 1)
        g(i, j) = Traits::scaled(frame.C(i, j), frame.difference(i, j, terms));
      else
        frame.add_second_order(i, terms, g, trace_gC);
      g(j, i) = g(i, j);
    }
  }
  return frame.stress(F, g, terms.bulk() * (frame.J - 1.0) - trace_gC / (3.0 * frame.J));
}

/// Returns dP = dF g + F dg + d(q cof F), the derivative of the first Piola stress P = F g(C) + q cof F along dF, where
/// C = FᵀF, g(C) = Σ_p µp J^(-αp/3) C^(αp/2 - 1), and q is the pressure.
///
/// In the basis of the eigenvectors of C (columns of Q, with Qᵀ C Q = diag(Λi) and E = Qᵀ dC Q), the entries of the
/// derivative dg of g = g(C) are
///   dg_ij = g[Λi, Λj] E_ij for i ≠ j,   dg_ii = (dt_i - g_ii E_ii)/Λi,
///   dt_i = Σ_p µp αp λ̄i^αp d ln λ̄i,   λ̄i = J^(-1/3) √Λi,   d ln λ̄i = E_ii/(2 Λi) - 1/3 d ln J,
/// where g[Λi, Λj] is a divided difference and t_i = Λi g(Λi).
template <class T>
DIFFSIM_SHARED_FUNCTION Mat3<T> ogden_stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const OgdenTerms<T>& terms) {
  const OgdenFrame<T> frame(F);
  const Mat3<T> A = transpose(F) * dF;
  const Mat3<T> E = turned(A + transpose(A), frame.Q);
  const T d_ln_J = inner(frame.cof, dF) / frame.J;
  Mat3<T> g = Mat3<T>::zero(), dg;
  T trace_gC = T(0.0), d_trace_gC = T(0.0);
  for (int i = 0; i < 3; ++i) {
    const T inverse = T(1.0) / frame.C(i, i);
    const T d_log_stretch = 0.5 * (E(i, i) * inverse) - (1.0 / 3.0) * d_ln_J;
    T t = T(0.0), dt = T(0.0);
    for (int p = 0; p < terms.count; ++p) {
      const T share = terms.mu(p) * frame.power(terms, p, i);
      t = t + share;
      dt = dt + terms.alpha(p) * share * d_log_stretch;
    }
    trace_gC = trace_gC + t;
    d_trace_gC = d_trace_gC + dt;
    g(i, i) = t * inverse;
    dg(i, i) = (dt - g(i, i) * E(i, i)) * inverse;
    const int j = (i + 1) % 3;
    dg(i, j) = frame.difference(i, j, terms) * E(i, j);
    dg(j, i) = dg(i, j);
  }
  const T third = (1.0 / 3.0) / frame.J;
  const T pressure = terms.bulk() * (frame.J - 1.0) - third * trace_gC;
  const T d_pressure = terms.bulk() * (frame.J * d_ln_J) - third * (d_trace_gC - trace_gC * d_ln_J);
  return dF * turned(g, transpose(frame.Q)) + frame.stress(F, dg, d_pressure) + pressure * cofactor_derivative(F, dF);
}

/// Computes the derivatives A_k = ∂P/∂moduli_k of the first Piola stress P of Ogden's law:
///   ∂P/∂µp = S(t) with t_i = λ̄i^αp,   ∂P/∂αp = S(t) with t_i = µp λ̄i^αp ln λ̄i,   ∂P/∂κ = (J - 1) cof F,
/// where S(t) = F g - 1/3 (g : C) F⁻ᵀ is an isochoric stress, g has the eigenvectors of C = FᵀF and the eigenvalues
/// t_i/Λi, Λi are the eigenvalues of C, and λ̄i = J^(-1/3) √Λi are the isochoric principal stretches.
template <class T>
DIFFSIM_SHARED_FUNCTION void ogden_stress_moduli(const Mat3<T>& F, const OgdenTerms<T>& terms, Mat3<T>* A) {
  const OgdenFrame<T> frame(F);
  for (int k = 0; k < 2 * terms.count; ++k) {
    Mat3<T> g = Mat3<T>::zero();
    T trace_gC = T(0.0);
    for (int i = 0; i < 3; ++i) {
      T t = frame.power(terms, k / 2, i);
      if (k % 2 == 1) t = terms.mu(k / 2) * t * frame.log_stretch[i];
      trace_gC = trace_gC + t;
      g(i, i) = t / frame.C(i, i);
    }
    A[k] = frame.stress(F, g, -(trace_gC / (3.0 * frame.J)));
  }
  A[2 * terms.count] = (frame.J - 1.0) * frame.cof;
}
}  // namespace detail

/// Compressible Ogden rubber of N terms with an isochoric–volumetric split (Ogden 1972, doi:10.1098/rspa.1972.0026;
/// Holzapfel 2000, sec. 6.5). With the deformation gradient F, J = det F and the principal stretches λi (singular
/// values of F), the energy W per rest volume and the first Piola stress P = ∂W/∂F are
///   W = Σ_p µp/αp (λ̄1^αp + λ̄2^αp + λ̄3^αp - 3) + κ/2 (J - 1)²,   λ̄i = J^(-1/3) λi,
///   W = Σ_p µp/αp (J^(-αp/3) tr C^(αp/2) - 3) + κ/2 (J - 1)²,   C = FᵀF,
///   P = F g(C) - 1/3 (g(C) : C) F⁻ᵀ + κ (J - 1) cof F,   g(C) = Σ_p µp J^(-αp/3) C^(αp/2 - 1),
/// where the sums are over the N terms p with the parameters µp and αp, and κ is the bulk modulus. The energy W is
/// defined for J = det F > 0 only.
///
/// Derivatives of energy and stress are expressed by divided differences, so that equal principal stretches need no
/// special case. The right Cauchy–Green tensor C = FᵀF is written as C = Q (Λ + E) Qᵀ, where Q is the matrix of the
/// eigenvectors of C and has no derivatives, Λ = diag(Λ1, Λ2, Λ3) with Λi = λi², and E contains the derivatives of C if
/// the scalars are dual numbers. Functions g(Λ + E) are expanded in E with the divided differences g[a, b] = (g(a) -
/// g(b))/(a - b) and g[a, b, c] = (g[a, b] - g[b, c])/(a - c) (Higham 2008, Functions of Matrices, sec. 3.2). For
/// smooth functions f and g, with i ≠ j, and with k ≠ i, j in the second formula for g(Λ + E)_ij:
///   g(Λ + E)_ii = g(Λi + E_ii),   g(Λ + E)_ij = g[Λi, Λj] E_ij                exact to first order in E,
///   g(Λ + E)_ii = g(Λi + E_ii) + Σ_{k≠i} g[Λi, Λk, Λi] E_ik²,
///   g(Λ + E)_ij = g[Λi + E_ii, Λj + E_jj] E_ij + g[Λi, Λk, Λj] E_ik E_kj      exact to second order in E,
///   tr f(Λ + E) = Σ_i f(Λi + E_ii) + Σ_{i<j} f'[Λi, Λj] E_ij²                 exact to second order in E.
///
/// The last three expansions are exact to second order in E, so that `stress` and `energy` can be differentiated twice.
/// The functions `stress_tangent` and `stress_moduli` compute first derivatives of the stress without dual numbers. For
/// small strains, the shear modulus is Σ_p µp αp / 2 and the bulk modulus is κ.
///
/// | parameter     | symbol | unit | range                                            |
/// |---------------|--------|------|--------------------------------------------------|
/// | mu_p          | µp     | Pa   | same sign as αp, or at least Σ µp αp > 0         |
/// | alpha_p       | αp     | 1    | not 0                                            |
/// | bulk_modulus  | κ      | Pa   | > 0                                              |
///
/// The moduli of the law are the parameters µp, αp and κ. If J = det F ≤ 0 in a cell, the run stops with an error that
/// names the cell.
template <int N>
struct Ogden {
  static constexpr int K = 2 * N + 1;
  static constexpr const char* name = detail::OgdenNames<N>::name;
  static constexpr std::array<ParameterSpec, K> parameters = detail::OgdenNames<N>::parameters;
  static constexpr int num_moduli = K;
  static constexpr bool needs_positive_jacobian = true;
  static constexpr bool long_arithmetic = true;

  /// Returns an error message if the parameters µp and αp give a shear modulus for small strains, ½ Σ_p µp αp, that is
  /// not positive; otherwise an empty text.
  static std::string parameters_error(std::span<const double> parameters) {
    double modulus = 0.0;
    for (std::size_t p = 0; p < N; ++p) modulus += 0.5 * parameters[2 * p] * parameters[2 * p + 1];
    if (modulus > 0.0) return {};
    return "the shear modulus, half the sum of mu_p alpha_p, is " + std::to_string(modulus) +
           " Pa, but must be positive";
  }

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[K], T (&moduli)[K]) {
    for (int k = 0; k < K; ++k) moduli[k] = parameters[k];
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[K]) {
    return detail::ogden_energy<T>(F, {moduli, N});
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[K]) {
    return detail::ogden_stress<T>(F, {moduli, N});
  }

  template <class T>
  requires(ScalarTraits<T>::order == 0) static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F,
                                                                                       const Mat3<T>& dF,
                                                                                       const T (&moduli)[K]) {
    return detail::ogden_stress_tangent<T>(F, dF, {moduli, N});
  }

  template <class T>
  requires(ScalarTraits<T>::order == 0) static DIFFSIM_FUNCTION
      void stress_moduli(const Mat3<T>& F, const T (&moduli)[K], Mat3<T> (&A)[K]) {
    detail::ogden_stress_moduli<T>(F, {moduli, N}, A);
  }
};

}  // namespace diffsim
