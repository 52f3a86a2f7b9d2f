// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/impl/elements_impl.hpp"
#include "diffsim/elastic/impl/moduli_impl.hpp"
#include "diffsim/elastic/impl/shared_law.hpp"

namespace diffsim::elastic {

/// Dual number whose value and derivative along one direction have one SIMD lane per cell of a pack.
using PackDual = Dual<Pack, 1>;

/// Derivatives of φ = P(F; moduli) : G, where P is the first Piola stress, F the deformation gradient and G a matrix:
/// `by_F` = ∂φ/∂F = ∂P/∂F : G, and `by_modulus` = ∂φ/∂moduli. The members are dual numbers, which also contain the
/// derivatives of ∂φ/∂F and ∂φ/∂moduli along a direction.
template <class L>
struct PowerDerivatives {
  Mat3<PackDual> by_F;
  PackDual by_modulus[L::num_moduli];
};

/// Computes the PowerDerivatives of φ = P : G, where P is the first Piola stress at the deformation gradient F. F, G
/// and the moduli contain derivatives along a direction. `by_modulus` is set only if `moduli_too` is true. The
/// functions `stress_tangent_of` and `stress_moduli_of` would give the same results, but with more code to compile.
template <class L>
DIFFSIM_SHARED_FUNCTION void power_derivatives(const Mat3<PackDual>& F, const Mat3<PackDual>& G,
                                               const PackDual (&moduli)[L::num_moduli], bool moduli_too,
                                               PowerDerivatives<L>& result) {
  if constexpr (requires { L::stress_tangent(F, G, moduli); })
    result.by_F = L::stress_tangent(F, G, moduli);
  else
    result.by_F = stress_along<L>(F, &G, moduli, -1);
  if (!moduli_too) return;
  Mat3<PackDual> A[L::num_moduli];
  if constexpr (requires { L::stress_moduli(F, moduli, A); }) {
    L::stress_moduli(F, moduli, A);
    for (int k = 0; k < L::num_moduli; ++k) result.by_modulus[k] = inner(A[k], G);
  } else {
    for (int k = 0; k < L::num_moduli; ++k) result.by_modulus[k] = inner(stress_along<L>(F, nullptr, moduli, k), G);
  }
}

/// Computes the gradients of `field` with respect to the rest positions, and the derivatives of these gradients along
/// `direction` (nullptr: zero). The gradients are those in the cells of a pack at `num_points_from(first)` successive
/// quadrature points, beginning with point `first`.
template <class E>
DIFFSIM_SHARED_FUNCTION void dual_gradients_at(const CellGeometry<E>& geometry, int pack, int first,
                                               const int* vertices, const double* field, const double* direction,
                                               Mat3<PackDual> (&gradient)[E::points_at_once]) {
  Mat3<Pack> value[E::points_at_once], derivative[E::points_at_once];
  gradients_at<E>(geometry, pack, first, vertices, field, value);
  if (direction) gradients_at<E>(geometry, pack, first, vertices, direction, derivative);
  const int count = num_points_from<E>(first);
  for (int q = 0; q < count; ++q)
    for (int i = 0; i < 9; ++i) {
      gradient[q](i / 3, i % 3).value = value[q](i / 3, i % 3);
      gradient[q](i / 3, i % 3).derivative[0] = direction ? derivative[q](i / 3, i % 3) : Pack(0.0);
    }
}

DIFFSIM_COMPILED_ELSEWHERE(void dual_gradients_at<Tet4>(const CellGeometry<Tet4>&, int, int, const int*, const double*,
                                                        const double*, Mat3<PackDual> (&)[Tet4::points_at_once]))
DIFFSIM_COMPILED_ELSEWHERE(void dual_gradients_at<Tet10>(const CellGeometry<Tet10>&, int, int, const int*,
                                                         const double*, const double*,
                                                         Mat3<PackDual> (&)[Tet10::points_at_once]))
DIFFSIM_COMPILED_ELSEWHERE(void dual_gradients_at<FineTet10>(const CellGeometry<FineTet10>&, int, int, const int*,
                                                             const double*, const double*,
                                                             Mat3<PackDual> (&)[FineTet10::points_at_once]))

/// Kernel that computes directional derivatives of the results of the kernel `ForceAdjoint`: of ∂(w·f)/∂x,
/// ∂(w·f)/∂moduli and ∂(w·f)/∂signal. Here, f are the nodal forces, w is a vector at the vertices, x are the positions,
/// and `signal` is the material law's control signal. The direction consists of the changes dx, dw, dmoduli and
/// dsignal.
template <Law L, class E>
struct ForceAdjointTangent {
  Elements<L, E> elements;
  const double* x;
  const double* dx;
  const double* w;
  const double* dw;         // or nullptr
  const double* dmoduli;    // [packs, K, pack_width] with K = L::num_moduli, or nullptr
  const double* dsignal;    // [1], or nullptr
  double* moduli_gradient;  // derivatives of ∂(w·f)/∂moduli are added, [packs, K, pack_width]; or nullptr
  double* signal_gradient;  // derivatives of ∂(w·f)/∂signal are stored, [packs]; or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    PackDual moduli[L::num_moduli];
    moduli_at(pack, moduli);
    if constexpr (has_signal<L>)
      if (signal_gradient) signal_gradient[pack] = 0.0;
    const CellGeometry<E>& geometry = elements.geometry;
    for (int first = 0; first < E::Rule::num_points; first += E::points_at_once) {
      Mat3<PackDual> F[E::points_at_once], G[E::points_at_once];
      dual_gradients_at<E>(geometry, pack, first, vertices, x, dx, F);
      dual_gradients_at<E>(geometry, pack, first, vertices, w, dw, G);
      const int count = num_points_from<E>(first);
      for (int q = 0; q < count; ++q) {
        PowerDerivatives<L> power;
        power_derivatives<L>(F[q], G[q], moduli, moduli_gradient || signal_gradient, power);
        Mat3<Pack> dB;
        for (int i = 0; i < 9; ++i) dB(i / 3, i % 3) = power.by_F(i / 3, i % 3).derivative[0];
        add_point_forces<E>(geometry, pack, first + q, dB, value);
        if (moduli_gradient || signal_gradient)
          add_moduli_gradient(pack, geometry.volume(pack, first + q), power.by_modulus);
      }
    }
  }

  /// Returns the value of the material law's control signal, and the derivative `dsignal` of this value.
  KOKKOS_INLINE_FUNCTION PackDual signal() const {
    PackDual s(elements.signal_value());
    if (dsignal) s.derivative[0] = *dsignal;
    return s;
  }
  /// Returns modulus k and its derivative from `dmoduli`, without multiplication by the material law's control signal.
  KOKKOS_INLINE_FUNCTION PackDual modulus_at(int pack, int k) const {
    PackDual m;
    m.value = elements.modulus(pack, k);
    m.derivative[0] = dmoduli ? load(dmoduli + pack_width * (L::num_moduli * pack + k)) : Pack(0.0);
    return m;
  }
  /// Computes all moduli, and their derivatives along the directions `dmoduli` and `dsignal`. The modulus with the
  /// index `L::signal_modulus` is multiplied by the material law's control signal.
  KOKKOS_INLINE_FUNCTION void moduli_at(int pack, PackDual (&moduli)[L::num_moduli]) const {
    for (int k = 0; k < L::num_moduli; ++k) moduli[k] = modulus_at(pack, k);
    if constexpr (has_signal<L>) moduli[L::signal_modulus] *= signal();
  }

  KOKKOS_INLINE_FUNCTION void add_moduli_gradient(int pack, const Pack& volume,
                                                  PackDual (&along)[L::num_moduli]) const {
    constexpr int K = L::num_moduli;
    if constexpr (has_signal<L>) {
      PackDual& a = along[L::signal_modulus];
      if (signal_gradient) {
        const Pack share = volume * (a * modulus_at(pack, L::signal_modulus)).derivative[0];
        for (int i = 0; i < pack_width; ++i) signal_gradient[pack] -= lane(share, i);
      }
      a *= signal();
    }
    if (!moduli_gradient) return;
    for (int k = 0; k < K; ++k) {
      double* const sum = moduli_gradient + pack_width * (K * pack + k);
      store(sum, load(sum) - volume * along[k].derivative[0]);
    }
  }
};

/// Adds to `gradient` the directional derivative of the sum Σ_k m̄_k ∂m_k/∂p_i, which `add_parameter_gradient`
/// computes: gradient_i += Σ_k (dm̄_k ∂m_k/∂p_i + m̄_k Σ_j ∂²m_k/∂p_i∂p_j dp_j). m̄ = `moduli_gradient` is the gradient
/// with respect to the moduli m, and p are the parameters. The direction is (dp, dm̄) = (`direction`,
/// `moduli_gradient_tangent`).
template <Law L>
void add_parameter_gradient_tangent(const LawCells<L>& law, const ParameterPointers<L>& parameters,
                                    const ParameterPointers<L>& direction, const DeviceArray<double>& moduli_gradient,
                                    const DeviceArray<double>& moduli_gradient_tangent,
                                    const GradientPointers<L>& gradient) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_adjoint_tangent", Range(0, law.num_cells), KOKKOS_LAMBDA(int entry) {
        using Along = Dual<double, 1>;
        const int cell = law.cell_of(entry);
        double p[P], dp[P];
        parameters.at(cell, p);
        direction.at(cell, dp);
        Dual<Along, P> variable[P], m[K];
        for (int i = 0; i < P; ++i) {
          Along moving(p[i]);
          moving.derivative[0] = dp[i];
          variable[i] = Dual<Along, P>::variable(moving, i);
        }
        L::moduli(variable, m);
        for (int k = 0; k < K; ++k) {
          const int place = pack_width * (K * (entry / pack_width) + k) + entry % pack_width;
          Along g(moduli_gradient(place));
          g.derivative[0] = moduli_gradient_tangent(place);
          for (int i = 0; i < P; ++i)
            if (gradient.value[i]) gradient.value[i][cell] += (g * m[k].derivative[i]).derivative[0];
        }
      });
}

}  // namespace diffsim::elastic
