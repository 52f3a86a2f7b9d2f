// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/impl/elements_impl.hpp"
#include "diffsim/elastic/impl/shared_law.hpp"

namespace diffsim::elastic {

/// Kernel that computes the nodal forces f = -∂E/∂x of each cell, where E is the elastic energy at the positions x. The
/// nodal forces are computed from the first Piola stress at the quadrature points.
template <Law L, class E>
struct Force {
  Elements<L, E> elements;
  const double* x;
  std::int32_t* invalid_cell;  // receives the smallest local index of an invalid cell; nullptr: no check

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> nodes[E::nodes];
    gather_nodes(vertices, x, nodes);
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = elements.geometry.at(pack, q);
      const Mat3<Pack> F = gradient_at<E>(nodes, elements.geometry.rule, q, inverse);
      if (invalid_cell) check(pack, F);
      add_node_forces<E>(swept_stress<L, E>(F, moduli), inverse, volume, elements.geometry.rule, q, value);
    }
  }

  /// Checks J = det F in the cells of a pack, and sets *invalid_cell to the minimum of its value and the local indices
  /// of invalid cells. A cell is invalid if J = det F is NaN, or if J ≤ 0 and the law needs J > 0.
  KOKKOS_INLINE_FUNCTION void check(int pack, const Mat3<Pack>& F) const {
    constexpr double bound = L::needs_positive_jacobian ? 0.0 : -1.7976931348623157e308;
    const Pack J = determinant(F);
    if (!any_not_greater(J, bound)) return;
    for (int i = 0; i < pack_width; ++i)
      if (!(lane(J, i) > bound)) Kokkos::atomic_fetch_min(invalid_cell, elements.cell_at(pack, i));
  }
};

/// Returns the stress (tr W) P - P Wᵀ, where P is the first Piola stress of the law at the deformation gradient F. W =
/// (∂dX/∂ξ) (∂X/∂ξ)⁻¹ is the gradient of a direction dX of the rest positions X. The nodal forces of the returned
/// stress are the derivatives along dX of the nodal forces of P, for a constant P.
template <class L>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> shape_stress(const Mat3<Pack>& F, const Mat3<Pack>& W,
                                                const Pack (&moduli)[L::num_moduli]) {
  const Mat3<Pack> P = shared_stress<L>(F, moduli);
  return trace(W) * P - times_transpose(P, W);
}

/// Kernel that computes the derivative of the nodal forces along a direction: dx of the positions x, dmoduli of the
/// moduli, dsignal of the material law's control signal (`has_signal`), and dX of the rest positions X. The derivatives
/// are the nodal forces of the stress dP = ∂P/∂F : (dF - F W) + Σ_k A_k dm_k + (tr W) P - P Wᵀ. Here P is the first
/// Piola stress, F the deformation gradient, dF = ∂dx/∂X, A_k = ∂P/∂moduli_k, dm_k the derivative of modulus k, and W =
/// ∂dX/∂X.
template <Law L, class E>
struct ForceTangent {
  Elements<L, E> elements;
  const double* x;
  const double* dx;
  const double* dmoduli;  // [packs, K, pack_width], or nullptr
  const double* dsignal;  // [1], or nullptr
  const double* dX;       // direction of the rest positions, or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    constexpr int K = L::num_moduli;
    Vec3<Pack> nodes[E::nodes], tangents[E::nodes], rest[E::nodes];
    gather_nodes(vertices, x, nodes);
    gather_nodes(vertices, dx, tangents);
    if (dX) gather_nodes(vertices, dX, rest);
    Pack moduli[K];
    elements.moduli_at(pack, moduli);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = elements.geometry.at(pack, q);
      const Mat3<Pack> F = gradient_at<E>(nodes, elements.geometry.rule, q, inverse);
      Mat3<Pack> dF = gradient_at<E>(tangents, elements.geometry.rule, q, inverse);
      Mat3<Pack> W;
      if (dX) {
        W = shape_change<E>(rest, elements.geometry.rule, q, inverse);
        dF = dF - F * W;
      }
      Mat3<Pack> dP = swept_stress_tangent<L, E>(F, dF, moduli);
      if (dmoduli || dsignal) {
        Mat3<Pack> A[K];
        swept_stress_moduli<L, E>(F, moduli, A);
        for (int k = 0; k < K; ++k) dP = dP + modulus_tangent(pack, k) * A[k];
      }
      if (dX) dP = dP + shape_stress<L>(F, W, moduli);
      add_node_forces<E>(dP, inverse, volume, elements.geometry.rule, q, value);
    }
  }

  /// Returns dm_k, the derivative of modulus k along the direction of ForceTangent. For k = `L::signal_modulus`, the
  /// stress depends on the product s m of the material law's control signal s (`has_signal`) and the stored modulus m,
  /// and dm_k = s dm + m ds.
  KOKKOS_INLINE_FUNCTION Pack modulus_tangent(int pack, int k) const {
    Pack dm = dmoduli ? load(dmoduli + pack_width * (L::num_moduli * pack + k)) : Pack(0.0);
    if (k != signal_modulus<L>()) return dm;
    dm = Pack(elements.signal_value()) * dm;
    return dsignal ? dm + Pack(*dsignal) * elements.modulus(pack, k) : dm;
  }
};

/// Kernel that computes the derivatives of w · f = -Σ V P : G, where f are the nodal forces, w is a vector at the
/// nodes, V is the rest volume of a quadrature point, P the first Piola stress and G = ∂w/∂X with the rest positions X.
/// With the deformation gradient F, the derivatives with respect to positions are the nodal forces of the stress B =
/// ∂P/∂F : G, and the derivatives with respect to the moduli are the sums of -V A_k : G over the quadrature points,
/// where A_k = ∂P/∂moduli_k. The derivative with respect to the modulus with the index `L::signal_modulus` is in
/// addition multiplied by the material law's control signal (`has_signal`). If requested, ForceAdjoint also computes
/// the derivatives with respect to the control signal and the rest positions X.
template <Law L, class E>
struct ForceAdjoint {
  Elements<L, E> elements;
  const double* x;
  const double* w;
  double* moduli_gradient;  // [packs, K, pack_width], or nullptr
  double* signal_gradient;  // [packs], overwritten, or nullptr
  double* shape_sums;       // [packs, points, 9, pack_width], or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    Vec3<Pack> nodes[E::nodes], adjoints[E::nodes];
    gather_nodes(vertices, x, nodes);
    gather_nodes(vertices, w, adjoints);
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    if constexpr (has_signal<L>)
      if (signal_gradient) signal_gradient[pack] = 0.0;
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = elements.geometry.at(pack, q);
      const Mat3<Pack> F = gradient_at<E>(nodes, elements.geometry.rule, q, inverse);
      const Mat3<Pack> G = gradient_at<E>(adjoints, elements.geometry.rule, q, inverse);
      const Mat3<Pack> B = swept_stress_tangent<L, E>(F, G, moduli);
      add_node_forces<E>(B, inverse, volume, elements.geometry.rule, q, value);
      if (moduli_gradient || signal_gradient) add_moduli_gradient(pack, volume, F, G, moduli);
      if (shape_sums) add_shape(pack, q, inverse, volume, F, G, B, moduli);
    }
  }

  KOKKOS_INLINE_FUNCTION void add_moduli_gradient(int pack, const Pack& volume, const Mat3<Pack>& F,
                                                  const Mat3<Pack>& G, const Pack (&moduli)[L::num_moduli]) const {
    constexpr int K = L::num_moduli;
    Mat3<Pack> A[K];
    swept_stress_moduli<L, E>(F, moduli, A);
    Pack along[K];
    for (int k = 0; k < K; ++k) along[k] = inner(A[k], G);
    if constexpr (has_signal<L>) {
      Pack& a = along[L::signal_modulus];
      if (signal_gradient) {
        const Pack share = volume * a * elements.modulus(pack, L::signal_modulus);
        for (int i = 0; i < pack_width; ++i) signal_gradient[pack] -= lane(share, i);
      }
      a *= Pack(elements.signal_value());
    }
    if (!moduli_gradient) return;
    prefetch<K * pack_width>(moduli_gradient + pack_width * K * (pack + packs_ahead));
    for (int k = 0; k < K; ++k) {
      double* const sum = moduli_gradient + pack_width * (K * pack + k);
      store(sum, load(sum) - volume * along[k]);
    }
  }

  /// Adds to `shape_sums` (see add_shape_derivative()) the derivative of -V P : G at quadrature point q with respect to
  /// ∂X/∂ξ. X are the rest positions, ξ the reference coordinates of the cell, V is the rest volume of the point, P the
  /// first Piola stress, F the deformation gradient, w the adjoint of the force, G = ∂w/∂X and B = ∂P/∂F : G. Along a
  /// change dX of the rest positions, the derivative of -V P : G is V (-(P : G) I + Fᵀ B + Gᵀ P) : W with W = ∂dX/∂X
  /// (see shape_change()).
  DIFFSIM_SHARED_FUNCTION void add_shape(int pack, int q, const Mat3<Pack>& inverse, const Pack& volume,
                                         const Mat3<Pack>& F, const Mat3<Pack>& G, const Mat3<Pack>& B,
                                         const Pack (&moduli)[L::num_moduli]) const {
    const Mat3<Pack> P = shared_stress<L>(F, moduli);
    const Pack power = inner(P, G);
    Mat3<Pack> Z = transpose(F) * B + transpose(G) * P;
    for (int i = 0; i < 3; ++i) Z(i, i) -= power;
    add_shape_derivative(Z, volume, inverse, elements.geometry.row(pack, q), shape_sums);
  }
};

/// Kernel that computes the elastic energy Σ V W(F), summed over the cells and their quadrature points, where V is the
/// rest volume of a quadrature point, F the deformation gradient, and W the law's energy per rest volume.
template <Law L, class E>
struct Energy {
  Elements<L, E> elements;
  DeviceArray<int> vertices;
  const double* x;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, double& sum) const {
    const CellGeometry<E>& geometry = elements.geometry;
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    for (int first = 0; first < E::Rule::num_points; first += E::points_at_once) {
      Mat3<Pack> F[E::points_at_once];
      gradients_at<E>(geometry, pack, first, &vertices(E::nodes * pack_width * pack), x, F);
      const int count = num_points_from<E>(first);
      for (int k = 0; k < count; ++k) {
        const Pack energy = geometry.volume(pack, first + k) * shared_energy<L>(F[k], moduli);
        for (int i = 0; i < pack_width; ++i) sum += lane(energy, i);
      }
    }
  }
};

/// Kernel that estimates, by `largest_eigenvalue`, the largest eigenvalue of each cell's stiffness matrix -∂f/∂x in the
/// rest shape, where f are the nodal forces.
template <Law L, class E>
struct StiffnessBound {
  Elements<L, E> elements;
  DeviceArray<double> eigenvalues;  // [packs, pack_width]

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    Pack moduli[L::num_moduli], H[9][9];
    elements.moduli_at(pack, moduli);
    stress_jacobian<L>(Mat3<Pack>::identity(), moduli, H);
    store(&eigenvalues(pack_width * pack), largest_eigenvalue<E>(elements.geometry, pack, H));
  }
};

}  // namespace diffsim::elastic
