// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/stencil_force.hpp"
#include "shell/dihedral_angle.hpp"

namespace diffsim {

/// Contribution of the first triangle to the bending energy of a hinge, the common side of two triangles. The nodes of
/// a hinge are the ends a and b of the common side, the third corner c of the first triangle and the third corner d of
/// the second triangle. The parameter of a HingeEnergy is the bending stiffness B of the first triangle.
///
/// The energy contributed by the first triangle is B/4 w (θ - θ̄)² with the bending stiffness B and a weight w. The
/// angle θ in (-π, π] is the angle between the normals n = (b - a)×(c - a) and m = (d - a)×(b - a) of the triangles,
/// and θ̄ is the angle between the normals in the rest shape. The weight is w = 3 l²/(A₁ + A₂), with the rest length l
/// of the common side and the rest areas A₁ and A₂ of the triangles (Grinspun, Hirani, Desbrun and Schröder 2003,
/// section 3). The bending stiffness of a sheet that bends at hinges depends on the shapes of the triangles, so the
/// sheet does not converge to a plate under mesh refinement.
struct HingeEnergy {
  static constexpr int num_nodes = 4, num_values = 1;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const T& B = at.p[0];
    const DihedralAngle<T> now(at.x), rest(at.X);
    const T change = now.theta - rest.theta;
    return B * weight(rest) * change * change;
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T& B = at.p[0];
    const DihedralAngle<T> now(at.x), rest(at.X);
    const T w = weight(rest), change = now.theta - rest.theta;
    const T moment = 2.0 * B * w * change;
    for (int i = 0; i < num_nodes; ++i) by.x[i] = by.X[i] = {{T(0.0), T(0.0), T(0.0)}};
    now.add_gradient(moment, by.x);
    rest.add_gradient(-moment, by.X);
    by.p[0] = w * change * change;
    // Gradient of the weight w/4 = 3/2 l²/(|n| + |m|).
    const T stretch = B * change * change, over = 1.0 / (rest.n_norm + rest.m_norm);
    add_weight_gradient(rest, 3.0 * stretch * over, -stretch * w * over, by.X);
  }

 private:
  /// Adds `of_square`/2 ∂|e|²/∂X + `of_norms` ∂(|n| + |m|)/∂X to the array `to`, where X are the rest positions of the
  /// nodes, e is the vector along the common side in the rest shape, and n and m are the normals of the two triangles
  /// in the rest shape (see DihedralAngle).
  template <class T>
  static DIFFSIM_FUNCTION void add_weight_gradient(const DihedralAngle<T>& rest, const T& of_square, const T& of_norms,
                                                   Vec3<T> (&to)[num_nodes]) {
    const Vec3<T> ce = cross(rest.c, rest.n), ec = cross(rest.n, rest.e), de = cross(rest.m, rest.d),
                  ed = cross(rest.e, rest.m);
    const T over_n = of_norms / rest.n_norm, over_m = of_norms / rest.m_norm;
    for (int k = 0; k < 3; ++k) {
      const T by_e = of_square * rest.e[k] + over_n * ce[k] + over_m * de[k];
      const T by_c = over_n * ec[k], by_d = over_m * ed[k];
      to[1][k] += by_e;
      to[2][k] += by_c;
      to[3][k] += by_d;
      to[0][k] -= by_e + by_c + by_d;
    }
  }

  /// Returns w/4 for the weight w = 3 l²/(A₁ + A₂), where l is the rest length of the common side and A₁ and A₂ are the
  /// rest areas of the two triangles.
  template <class T>
  static DIFFSIM_FUNCTION T weight(const DihedralAngle<T>& rest) {
    return 1.5 * rest.square / (rest.n_norm + rest.m_norm);
  }
};

}  // namespace diffsim
