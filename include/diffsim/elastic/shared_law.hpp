// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/pack.hpp"
#include "diffsim/elastic/law.hpp"

// Functions of a law at a pack of points, compiled once for all kernels that call them.

namespace diffsim::elastic {

template <class L>
DIFFSIM_SHARED_FUNCTION Pack shared_energy(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  return L::energy(F, moduli);
}

template <class L>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> shared_stress(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  return stress_of<L>(F, moduli);
}

template <class L>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> shared_stress_tangent(const Mat3<Pack>& F, const Mat3<Pack>& dF,
                                                         const Pack (&moduli)[L::num_moduli]) {
  return stress_tangent_of<L>(F, dF, moduli);
}

template <class L>
DIFFSIM_SHARED_FUNCTION void shared_stress_moduli(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                                  Mat3<Pack> (&A)[L::num_moduli]) {
  stress_moduli_of<L>(F, moduli, A);
}

/// H = ∂P/∂F at a point, [9, 9] with F row-major; symmetric.
template <class L>
DIFFSIM_SHARED_FUNCTION void stress_jacobian(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                             Pack (&H)[9][9]) {
  for (int k = 0; k < 9; ++k) {
    Mat3<Pack> dF = Mat3<Pack>::zero();
    dF(k / 3, k % 3) = 1.0;
    const Mat3<Pack> dP = shared_stress_tangent<L>(F, dF, moduli);
    for (int i = 0; i < 9; ++i) H[i][k] = dP(i / 3, i % 3);
  }
}

/// Whether a law says that its arithmetic is long, so that sweeps call its functions instead of inlining them.
template <class L>
inline constexpr bool has_long_arithmetic = requires {
  requires L::long_arithmetic;
};

// The functions that sweeps of every step over cells of kind E call.

template <class L, class E>
DIFFSIM_FUNCTION Mat3<Pack> swept_stress(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  if constexpr (has_long_arithmetic<L> || E::compact)
    return shared_stress<L>(F, moduli);
  else
    return stress_of<L>(F, moduli);
}

template <class L, class E>
DIFFSIM_FUNCTION Mat3<Pack> swept_stress_tangent(const Mat3<Pack>& F, const Mat3<Pack>& dF,
                                                 const Pack (&moduli)[L::num_moduli]) {
  if constexpr (has_long_arithmetic<L> || E::compact)
    return shared_stress_tangent<L>(F, dF, moduli);
  else
    return stress_tangent_of<L>(F, dF, moduli);
}

template <class L, class E>
DIFFSIM_FUNCTION void swept_stress_moduli(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                          Mat3<Pack> (&A)[L::num_moduli]) {
  if constexpr (has_long_arithmetic<L> || E::compact)
    shared_stress_moduli<L>(F, moduli, A);
  else
    stress_moduli_of<L>(F, moduli, A);
}

}  // namespace diffsim::elastic
