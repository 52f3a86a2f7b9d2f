// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"
#include "diffsim/elastic/scalar_traits.hpp"
#include "diffsim/elastic/spectral.hpp"

namespace diffsim {

namespace detail {
template <int N>
struct OgdenNames;
template <>
struct OgdenNames<1> {
  static constexpr const char* name = "ogden_1";
  static constexpr std::array<const char*, 3> parameters{"mu_1", "alpha_1", "bulk_modulus"};
};
template <>
struct OgdenNames<2> {
  static constexpr const char* name = "ogden_2";
  static constexpr std::array<const char*, 5> parameters{"mu_1", "alpha_1", "mu_2", "alpha_2", "bulk_modulus"};
};
template <>
struct OgdenNames<3> {
  static constexpr const char* name = "ogden_3";
  static constexpr std::array<const char*, 7> parameters{"mu_1", "alpha_1", "mu_2",        "alpha_2",
                                                         "mu_3", "alpha_3", "bulk_modulus"};
};
}  // namespace detail

/// Compressible Ogden rubber of N terms, shape and volume split (Ogden 1972, doi:10.1098/rspa.1972.0026; Holzapfel
/// 2000, sec. 6.5). J > 0 only.
///
///   W = Σ_p µp/αp (λ̄1^αp + λ̄2^αp + λ̄3^αp - 3) + κ/2 (J - 1)²,   λ̄i = J^(-1/3) λi
///     = Σ_p µp/αp (J^(-αp/3) tr C^(αp/2) - 3) + κ/2 (J - 1)²,   C = FᵀF
///   P = F g(C) - 1/3 (g(C) : C) F⁻ᵀ + κ (J - 1) cof F,   g(C) = Σ_p µp J^(-αp/3) C^(αp/2 - 1)
///
/// Repeated stretches need no care: C is diagonalised in plain numbers, C = Q (Λ + E) Qᵀ with E infinitesimal (Dual),
/// and functions of Λ + E are expanded in E with divided differences (Higham 2008, Functions of Matrices, sec. 3.2):
///
///   g(Λ + E)_ii = g(λi + E_ii),   g(Λ + E)_ij = g[λi, λj] E_ij                exact to first order in E
///   g(Λ + E)_ii = g(λi + E_ii) + Σ_{k≠i} g[λi, λk, λi] E_ik²,
///   g(Λ + E)_ij = g[λi + E_ii, λj + E_jj] E_ij + g[λi, λk, λj] E_ik E_kj      exact to second order in E
///   tr f(Λ + E) = Σ_i f(λi + E_ii) + Σ_{i<j} f'[λi, λj] E_ij²                 exact to second order in E
///
/// so both `stress` and `energy` may be differentiated twice. Small strains see the shear modulus Σ µp αp / 2 and
/// the bulk modulus κ.
///
/// | parameter     | symbol | unit | range                                       |
/// |---------------|--------|------|---------------------------------------------|
/// | mu_p          | µp     | Pa   | of the sign of αp (at least Σ µp αp > 0)    |
/// | alpha_p       | αp     | 1    | not 0                                       |
/// | bulk_modulus  | κ      | Pa   | > 0                                         |
///
/// Moduli: the parameters. J ≤ 0: the run stops with the cell.
template <int N>
struct Ogden {
  static constexpr int K = 2 * N + 1;
  static constexpr const char* name = detail::OgdenNames<N>::name;
  static constexpr std::array<const char*, K> parameters = detail::OgdenNames<N>::parameters;
  static constexpr int num_moduli = K;
  static constexpr bool needs_positive_jacobian = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[K], T (&moduli)[K]) {
    for (int k = 0; k < K; ++k) moduli[k] = parameters[k];
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[K]) {
    static_assert(ScalarTraits<T>::order <= 2, "the energy is expanded to second order");
    using std::exp, std::log;
    const T J = determinant(F);
    const Frame<T> frame(F, log(J));
    T W = 0.5 * moduli[2 * N] * (J - 1.0) * (J - 1.0);
    for (int p = 0; p < N; ++p) {
      const T& alpha = moduli[2 * p + 1];
      T sum = T(-3.0);
      for (int i = 0; i < 3; ++i) sum = sum + exp(alpha * frame.log_stretch[i]);
      W = W + moduli[2 * p] / alpha * sum;
    }
    if constexpr (ScalarTraits<T>::order == 2) {
      for (int i = 0; i < 3; ++i) {
        const T& E = frame.C(i, (i + 1) % 3);
        // f' = g/2.
        W = W + ScalarTraits<T>::constant(0.5 * frame.difference(i, (i + 1) % 3, moduli)) * (E * E);
      }
    }
    return W;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[K]) {
    static_assert(ScalarTraits<T>::order <= 2, "the stress is expanded to second order");
    using std::exp, std::log;
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const Frame<T> frame(F, log(J));
    Mat3<T> g;
    T trace_gC = T(0.0);
    for (int i = 0; i < 3; ++i) {
      T sum = T(0.0);
      for (int p = 0; p < N; ++p) sum = sum + moduli[2 * p] * exp(moduli[2 * p + 1] * frame.log_stretch[i]);
      trace_gC = trace_gC + sum;
      g(i, i) = sum / frame.C(i, i);
    }
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      if constexpr (ScalarTraits<T>::order == 0)
        g(i, j) = T(0.0);  // E is rounding alone
      else if constexpr (ScalarTraits<T>::order == 1)
        g(i, j) = ScalarTraits<T>::constant(frame.difference(i, j, moduli)) * frame.C(i, j);
      else
        add_second_order(frame, i, moduli, g, trace_gC);
      g(j, i) = g(i, j);
    }
    const T pressure = moduli[2 * N] * (J - 1.0) - trace_gC / (3.0 * J);
    return F * (frame.Q * times_transpose(g, frame.Q)) + pressure * cof;
  }

 private:
  /// What is of second order in E_ij, E_ik, E_kj, and the off-diagonal g_ij, j the next after i.
  template <class T, class F>
  static DIFFSIM_SHARED_FUNCTION void add_second_order(const F& frame, int i, const T (&moduli)[K], Mat3<T>& g,
                                                       T& trace_gC) {
    using Traits = ScalarTraits<T>;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const T square = frame.C(i, j) * frame.C(i, j);
    g(i, j) = frame.moving_difference(i, j, moduli) * frame.C(i, j) +
              Traits::constant(frame.second_difference(i, k, j, moduli)) * (frame.C(i, k) * frame.C(k, j));
    g(i, i) = g(i, i) + Traits::constant(frame.second_difference(i, j, i, moduli)) * square;
    g(j, j) = g(j, j) + Traits::constant(frame.second_difference(j, i, j, moduli)) * square;
    // tr f with f = z g(z).
    trace_gC = trace_gC + Traits::constant(frame.trace_difference(i, j, moduli)) * square;
  }

  /// C in the frame of its eigenvectors, Λ + E.
  template <class T>
  struct Frame {
    using Traits = ScalarTraits<T>;
    using Base = typename Traits::Base;
    Mat3<T> Q, C;
    T log_stretch[3];        // ln λ̄i, with the diagonal of E
    Base log_eigenvalue[3];  // ln of the diagonal of Λ
    T ln_J;
    Base log_J;

    DIFFSIM_FUNCTION Frame(const Mat3<T>& F, const T& logarithm_J)
        : ln_J(logarithm_J), log_J(Traits::base(logarithm_J)) {
      using std::log;
      C = transpose(F) * F;
      Mat3<Base> base;
      for (int i = 0; i < 9; ++i) base(i / 3, i % 3) = Traits::base(C(i / 3, i % 3));
      const SymmetricEigen<Base> eigen = symmetric_eigen(base);
      for (int i = 0; i < 9; ++i) Q(i / 3, i % 3) = Traits::constant(eigen.vectors(i / 3, i % 3));
      C = transpose(Q) * (C * Q);
      for (int i = 0; i < 3; ++i) {
        const T ln_C = log(C(i, i));
        log_stretch[i] = 0.5 * ln_C - (1.0 / 3.0) * ln_J;
        log_eigenvalue[i] = Traits::base(ln_C);
      }
    }

    /// Σ_p µp J^(-αp/3) d(αp/2 - 1), d(q) of z^q.
    template <class Difference>
    DIFFSIM_FUNCTION Base sum_of(const T (&moduli)[K], const Difference& difference_of_power) const {
      using std::exp;
      Base sum = Base(0.0);
      for (int p = 0; p < N; ++p) {
        const Base mu = Traits::base(moduli[2 * p]), alpha = Traits::base(moduli[2 * p + 1]);
        sum = sum + mu * exp((-1.0 / 3.0) * (alpha * log_J)) * difference_of_power(Base(0.5 * alpha - 1.0));
      }
      return sum;
    }
    /// g[λi, λj].
    DIFFSIM_FUNCTION Base difference(int i, int j, const T (&moduli)[K]) const {
      return sum_of(moduli, [&](const Base& q)
                                DIFFSIM_INLINED { return power_difference(q, log_eigenvalue[i], log_eigenvalue[j]); });
    }
    /// f'[λi, λj], f = z g(z): f' = Σ_p αp/2 µp J^(-αp/3) z^(αp/2 - 1).
    DIFFSIM_FUNCTION Base trace_difference(int i, int j, const T (&moduli)[K]) const {
      return sum_of(moduli, [&](const Base& q) DIFFSIM_INLINED {
        return Base((q + 1.0) * power_difference(q, log_eigenvalue[i], log_eigenvalue[j]));
      });
    }
    /// g[λi, λk, λj].
    DIFFSIM_FUNCTION Base second_difference(int i, int k, int j, const T (&moduli)[K]) const {
      return sum_of(moduli, [&](const Base& q) DIFFSIM_INLINED {
        return power_second_difference(q, log_eigenvalue[i], log_eigenvalue[k], log_eigenvalue[j]);
      });
    }
    /// g[λi + E_ii, λj + E_jj].
    DIFFSIM_FUNCTION T moving_difference(int i, int j, const T (&moduli)[K]) const {
      using std::exp, std::log;
      const T x = log(C(i, i)), y = log(C(j, j));
      T sum = T(0.0);
      for (int p = 0; p < N; ++p) {
        const T& alpha = moduli[2 * p + 1];
        sum = sum + moduli[2 * p] * exp((-1.0 / 3.0) * (alpha * ln_J)) * power_difference(T(0.5 * alpha - 1.0), x, y);
      }
      return sum;
    }
  };
};

}  // namespace diffsim
