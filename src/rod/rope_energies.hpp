// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

// Energies of the segments of a rope, an elastic line without twist, and of the nodes between segments.

namespace diffsim {

/// Stretching energy of a rope's segment: W = EA L/2 (l/L - 1)², where l is the current length and L is the rest length
/// of the segment. The parameter of RopeStretch is the axial stiffness EA (N).
struct RopeStretch {
  static constexpr int num_nodes = 2, num_values = 1;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    using std::sqrt;
    const T& EA = at.p[0];
    const Vec3<T> d = at.x[1] - at.x[0], D = at.X[1] - at.X[0];
    const T L = sqrt(dot(D, D)), elongation = sqrt(dot(d, d)) - L;
    return 0.5 * EA * elongation * elongation / L;
  }

  /// Computes the derivatives of the stretching energy W with respect to all inputs, from ∂W/∂l = EA ε and ∂W/∂L = -EA
  /// ε (1 + ε/2), with the strain ε = l/L - 1.
  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    using std::sqrt;
    const T& EA = at.p[0];
    const Vec3<T> d = at.x[1] - at.x[0], D = at.X[1] - at.X[0];
    const T l = sqrt(dot(d, d)), L = sqrt(dot(D, D)), strain = (l - L) / L;
    const T over_l = EA * strain / l, over_L = -EA * strain * (1.0 + 0.5 * strain) / L;
    for (int c = 0; c < 3; ++c) {
      by.x[1][c] = over_l * d[c];
      by.X[1][c] = over_L * D[c];
      by.x[0][c] = -by.x[1][c];
      by.X[0][c] = -by.X[1][c];
    }
    by.p[0] = 0.5 * strain * strain * L;
  }
};

/// Contribution of the first segment to the bending energy at the node between two segments of a rope. The nodes of the
/// stencil are the first segment's far end, the common node, and the second segment's far end. The parameter of
/// RopeBending is the bending stiffness EI (N m²) of the first segment.
///
/// Let L and M be the rest lengths of the first and the second segment, and φ the angle between the vectors e and f
/// along these segments. The energy contributed by the first segment is EI κ²/2 · L/2 with the curvature κ = 2
/// tan(φ/2)/((L + M)/2) (Bergou, Wardetzky, Robinson, Audoly and Grinspun 2008, section 4.2). The value tan²(φ/2) =
/// (|e||f| - e·f)/(|e||f| + e·f) is infinite if e and f have opposite directions (φ = π).
struct RopeBending {
  static constexpr int num_nodes = 3, num_values = 1;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const T& EI = at.p[0];
    const Joint<T> joint(at);
    return EI * joint.weight() * joint.square();
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T& EI = at.p[0];
    const Joint<T> of(at);
    const T square = of.square(), ends = of.L + of.M;
    // ∂(4 tan²(φ/2))/∂e = 8 |e||f|/(|e||f| + e·f)² ((e·f) e/|e|² - f); the derivative with respect to f follows by
    // exchanging e and f.
    const T factor = 8.0 * EI * of.weight() * of.product / (of.sum * of.sum);
    const T along_e = of.cosine / dot(of.e, of.e), along_f = of.cosine / dot(of.f, of.f);
    const T by_L = EI * square * (of.M - of.L) / (ends * ends * ends * of.L);
    const T by_M = -2.0 * EI * square * of.L / (ends * ends * ends * of.M);
    for (int c = 0; c < 3; ++c) {
      const T by_e = factor * (along_e * of.e[c] - of.f[c]), by_f = factor * (along_f * of.f[c] - of.e[c]);
      by.x[0][c] = -by_e;
      by.x[1][c] = by_e - by_f;
      by.x[2][c] = by_f;
      by.X[0][c] = -by_L * (at.X[1][c] - at.X[0][c]);
      by.X[2][c] = by_M * (at.X[2][c] - at.X[1][c]);
      by.X[1][c] = -by.X[0][c] - by.X[2][c];
    }
    by.p[0] = of.weight() * square;
  }

 private:
  template <class T>
  struct Joint {
    Vec3<T> e, f;
    T L, M;             // rest lengths of the first and the second segment
    T cosine, product;  // e·f, |e||f|
    T sum;              // |e||f| + e·f

    DIFFSIM_FUNCTION explicit Joint(const StencilValues<T, num_nodes, num_values>& at)
        : e(at.x[1] - at.x[0]), f(at.x[2] - at.x[1]), cosine(dot(e, f)) {
      using std::sqrt;
      const Vec3<T> first = at.X[1] - at.X[0], second = at.X[2] - at.X[1];
      L = sqrt(dot(first, first));
      M = sqrt(dot(second, second));
      product = sqrt(dot(e, e) * dot(f, f));
      sum = product + cosine;
    }
    /// Returns 4 tan²(φ/2), computed as 4 |e×f|²/(|e||f| + e·f)² to avoid cancellation for small φ, where φ is the
    /// angle between the vectors e and f along the two segments.
    DIFFSIM_FUNCTION T square() const {
      const Vec3<T> normal = cross(e, f);
      return 4.0 * dot(normal, normal) / (sum * sum);
    }
    /// Returns the factor w = L/(L + M)² of the bending energy EI κ²/2 · L/2 = 4 EI w tan²(φ/2) (see RopeBending),
    /// where L and M are the rest lengths of the two segments.
    DIFFSIM_FUNCTION T weight() const { return L / ((L + M) * (L + M)); }
  };
};

}  // namespace diffsim
