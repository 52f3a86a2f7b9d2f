// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "shell/hinge_energy.hpp"

namespace diffsim {

/// Contribution of the first triangle to the bending energy of a hinge, the common side of two triangles of woven
/// cloth. The bending energy is computed as in `HingeEnergy`, with a bending stiffness B that depends on the angle
/// between the direction of bending and the threads. The parameters of FabricHinge are the bending stiffnesses D₁ in
/// the direction of the warp and D₂ in the direction of the weft, the stiffness H against twist, and the three
/// components of the direction a of the warp, all of the hinge's first triangle.
///
/// The direction of bending is perpendicular to the common side e of the two triangles, in the plane of the first
/// triangle. The direction of the warp in the triangle is the component of a in the plane of the triangle. Let φ be the
/// angle, in the rest shape, between the direction of bending and the direction of the warp. The bending stiffness B =
/// D₁ cos⁴φ + 2 H cos²φ sin²φ + D₂ sin⁴φ is the stiffness of an orthotropic plate in the direction of bending
/// (Timoshenko & Woinowsky-Krieger 1959, Theory of Plates and Shells, section 85). The angle φ is computed from sin²φ =
/// (a·e)²/(|e|² |a × n|²), with the unit normal n of the first triangle.
struct FabricHinge {
  static constexpr int num_nodes = 4, num_values = 6;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    return HingeEnergy().energy(hinge_of(at, Direction<T>(at)));
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T &D1 = at.p[0], &D2 = at.p[1], &H = at.p[2];
    const Direction<T> of(at);
    StencilValues<T, num_nodes, 1> by_hinge;
    HingeEnergy().energy_derivatives(hinge_of(at, of), by_hinge);
    for (int i = 0; i < num_nodes; ++i) {
      by.x[i] = by_hinge.x[i];
      by.X[i] = by_hinge.X[i];
    }
    const T& by_B = by_hinge.p[0];
    by.p[0] = by_B * of.p * of.p;
    by.p[1] = by_B * of.q * of.q;
    by.p[2] = 2.0 * by_B * of.p * of.q;
    const T by_q = 2.0 * by_B * (D2 * of.q - D1 * of.p + H * (of.p - of.q));
    of.add_gradient(by_q, by);
  }

 private:
  /// Values sin²φ and cos²φ, where φ is the angle between the direction of bending and the warp, and intermediate
  /// quantities of their computation.
  template <class T>
  struct Direction {
    Vec3<T> a, e, c, n;  // n = e × c, not of unit length
    T along, across;     // a·e, a·n
    T e2, n2, a2;        // |e|², |n|², |a|²
    T in_plane;          // |a × n|² = |a|² |n|² - (a·n)²
    T q, p;              // sin²φ, cos²φ

    DIFFSIM_FUNCTION explicit Direction(const StencilValues<T, num_nodes, num_values>& at)
        : a(at.vector(3)), e(at.X[1] - at.X[0]), c(at.X[2] - at.X[0]), n(cross(e, c)) {
      along = dot(a, e);
      across = dot(a, n);
      e2 = dot(e, e);
      n2 = dot(n, n);
      a2 = dot(a, a);
      in_plane = a2 * n2 - across * across;
      q = along * along * n2 / (e2 * in_plane);
      p = 1.0 - q;
    }

    /// Adds `by_q` ∂q/∂X to `by.X`, and sets the entries 3, 4 and 5 of `by.p` to `by_q` ∂q/∂a, where q = sin²φ, X are
    /// the rest positions, and a is the direction of the warp.
    DIFFSIM_FUNCTION void add_gradient(const T& by_q, StencilValues<T, num_nodes, num_values>& by) const {
      const T over = by_q * q / in_plane, by_along = 2.0 * by_q * along * n2 / (e2 * in_plane);
      const T by_n2 = by_q * along * along / (e2 * in_plane) - over * a2, by_across = 2.0 * over * across;
      const Vec3<T> by_n = T(2.0 * by_n2) * n + by_across * a;
      const Vec3<T> by_e = by_along * a - T(2.0 * by_q * q / e2) * e + cross(c, by_n);
      const Vec3<T> by_c = cross(by_n, e);
      const Vec3<T> by_a = by_along * e - T(2.0 * over * n2) * a + by_across * n;
      by.X[1] = by.X[1] + by_e;
      by.X[2] = by.X[2] + by_c;
      by.X[0] = by.X[0] - (by_e + by_c);
      for (int k = 0; k < 3; ++k) by.p[3 + k] = by_a[k];
    }
  };

  /// Returns the inputs of `HingeEnergy`: the positions and rest positions, and the bending stiffness B in the
  /// direction of bending.
  template <class T>
  static DIFFSIM_FUNCTION StencilValues<T, num_nodes, 1> hinge_of(const StencilValues<T, num_nodes, num_values>& at,
                                                                  const Direction<T>& of) {
    const T &D1 = at.p[0], &D2 = at.p[1], &H = at.p[2];
    StencilValues<T, num_nodes, 1> hinge;
    for (int i = 0; i < num_nodes; ++i) {
      hinge.x[i] = at.x[i];
      hinge.X[i] = at.X[i];
    }
    hinge.p[0] = D1 * of.p * of.p + 2.0 * H * of.p * of.q + D2 * of.q * of.q;
    return hinge;
  }
};

}  // namespace diffsim
