// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/dual_tensor.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/point_gradient.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/elastic/impl/common_parameters.hpp"

namespace diffsim {

/// Requirements on the type L of a law of elasticity. A law is a struct with the constants `name`, `parameters`,
/// `num_moduli` and `needs_positive_jacobian` and the functions `moduli` and `energy`:
///
///     static constexpr const char* name;
///     static constexpr std::array<ParameterSpec, N> parameters;   // N parameters, with one value per cell each
///     static constexpr int num_moduli;                            // K, number of moduli that `energy` takes
///     static constexpr bool needs_positive_jacobian;              // true if W is defined for J = det F > 0 only
///     template <class T> static void moduli(const T (&parameters)[N], T (&moduli)[K]);
///     template <class T> static T energy(const Mat3<T>& F, const T (&moduli)[K]);   // W, J/m³
///
/// The functions `moduli` and `energy` are templates on the scalar type T: double, Pack (a SIMD vector of doubles), or
/// one of the scalars Dual and PointGradient of automatic differentiation, which may be nested. Kernels compute the
/// first Piola stress P = ∂W/∂F and the derivatives of P from `energy` by automatic differentiation. For higher speed,
/// a law may define any of the functions `stress`, `stress_tangent` and `stress_moduli`, which then replace automatic
/// differentiation for the first Piola stress P, for ∂P/∂F : dF, and for A_k = ∂P/∂moduli_k:
///
///     template <class T> static Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[K]);
///     template <class T> static Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[K]);
///     template <class T> static void stress_moduli(const Mat3<T>& F, const T (&moduli)[K], Mat3<T> (&A)[K]);
///
/// A law may declare a control signal, a parameter that multiplies one modulus in all cells and has one value for all
/// time steps or one value per time step:
///
///     static constexpr ParameterSpec signal;
///     static constexpr int signal_modulus;   // index of the modulus that the signal multiplies
///
/// A law that requires a condition on several parameters of a cell may define the function `parameters_error`, which
/// returns an error message if the condition is not met, and otherwise an empty text. A scene calls the law's function
/// `parameters_error` for each cell when the scene is created:
///
///     static std::string parameters_error(std::span<const double> parameters);   // in the order of `parameters`
///
/// By default kernels inline the functions of a law that defines `stress`, and call the functions of a law that does
/// not define `stress`, because stresses derived by automatic differentiation take long to compile when inlined. A law
/// may override this default by the constant `long_arithmetic`. Kernels for the cell type FineTet10, which has many
/// quadrature points, call the functions of every law. Calls are recommended for long functions (with logarithms,
/// exponentials or iterations); inlining may make kernels with a short energy function a few percent faster.
///
///     static constexpr bool long_arithmetic = true;  // true: called, false: inlined
///
/// For products with Hessians, the stress is differentiated twice, with nested Dual scalars.
template <class L>
concept Law = requires(const Mat3<double>& F, const double (&moduli)[L::num_moduli]) {
  { L::energy(F, moduli) } -> std::convertible_to<double>;
  { L::needs_positive_jacobian } -> std::convertible_to<bool>;
  {L::parameters.size()};
};

/// Returns the first Piola stress P = ∂W/∂F, where W is the energy per rest volume: by `L::stress` if the law L defines
/// this function, otherwise by automatic differentiation of `L::energy`.
template <class L, class T, int K>
DIFFSIM_FUNCTION Mat3<T> stress_of(const Mat3<T>& F, const T (&moduli)[K]) {
  if constexpr (requires { L::stress(F, moduli); }) {
    return L::stress(F, moduli);
  } else {
    Mat3<PointGradient<T>> variable;
    PointGradient<T> constant[K];
    detail::set_variables(F, variable);
    for (int k = 0; k < K; ++k) constant[k].set_constant(moduli[k]);
    return gradient_of(L::energy(variable, constant), F);
  }
}

/// Returns dP = ∂P/∂F : dF, where P is the first Piola stress at the deformation gradient F. Because ∂P/∂F is
/// symmetric, the result is also the transposed product (∂P/∂F)ᵀ : dF.
template <class L, class T, int K>
DIFFSIM_FUNCTION Mat3<T> stress_tangent_of(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[K]) {
  if constexpr (requires { L::stress_tangent(F, dF, moduli); }) {
    return L::stress_tangent(F, dF, moduli);
  } else {
    using D = Dual<T, 1>;
    Mat3<D> along;
    D constant[K];
    for (int i = 0; i < 9; ++i) {
      along(i / 3, i % 3).value = F(i / 3, i % 3);
      along(i / 3, i % 3).derivative[0] = dF(i / 3, i % 3);
    }
    for (int k = 0; k < K; ++k) constant[k] = D::constant(moduli[k]);
    const Mat3<D> P = stress_of<L>(along, constant);
    Mat3<T> dP;
    for (int i = 0; i < 9; ++i) dP(i / 3, i % 3) = P(i / 3, i % 3).derivative[0];
    return dP;
  }
}

/// Computes A_k = ∂P/∂moduli_k, where P is the first Piola stress. A law's tangent kernels and adjoint kernels must
/// compute A_k = ∂P/∂moduli_k by the same function, so that the adjoint is the transpose of the tangent up to rounding
/// errors of the results. Near the rest shape, A_k is a small difference of large terms, so two functions would have
/// different rounding errors.
template <class L, class T, int K>
DIFFSIM_FUNCTION void stress_moduli_of(const Mat3<T>& F, const T (&moduli)[K], Mat3<T> (&A)[K]) {
  if constexpr (requires { L::stress_moduli(F, moduli, A); }) {
    L::stress_moduli(F, moduli, A);
  } else {
    using D = Dual<T, K>;
    Mat3<D> constant;
    D variable[K];
    for (int i = 0; i < 9; ++i) constant(i / 3, i % 3) = D::constant(F(i / 3, i % 3));
    for (int k = 0; k < K; ++k) variable[k] = D::variable(moduli[k], k);
    const Mat3<D> P = stress_of<L>(constant, variable);
    for (int k = 0; k < K; ++k)
      for (int i = 0; i < 9; ++i) A[k](i / 3, i % 3) = P(i / 3, i % 3).derivative[k];
  }
}

/// Computes out_k = ∂P/∂moduli_k : G for a matrix G, where P is the first Piola stress at the deformation gradient F.
template <class L, class T, int K>
DIFFSIM_FUNCTION void stress_moduli_of(const Mat3<T>& F, const Mat3<T>& G, const T (&moduli)[K], T (&out)[K]) {
  Mat3<T> A[K];
  stress_moduli_of<L>(F, moduli, A);
  for (int k = 0; k < K; ++k) out[k] = inner(A[k], G);
}

/// Computes `moduli` = (µ, λ), Lamé's moduli µ = E/(2 (1 + ν)) and λ = E ν/((1 + ν) (1 - 2 ν)), from `parameters` = (E,
/// ν), Young's modulus E and Poisson's ratio ν.
template <class T>
DIFFSIM_FUNCTION void lame_moduli(const T (&parameters)[2], T (&moduli)[2]) {
  const T& E = parameters[0];
  const T& nu = parameters[1];
  moduli[0] = E / (2.0 * (1.0 + nu));
  moduli[1] = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
}

}  // namespace diffsim
