// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Dimensionless bending and twisting strains at the node between two segments of a rod: the integrals of the two
/// curvatures and of the twist over the part of the rod that belongs to the node (Bergou, Wardetzky, Robinson, Audoly
/// and Grinspun 2008, sections 4.2 and 6; Bergou, Audoly, Vouga, Wardetzky and Grinspun 2010).
///
/// The inputs of JointStrains are the edge vectors e and f of the first and the second segment, and the directors d and
/// g, vectors that give the orientations of the cross-sections of the two segments. Let t = e/|e| and u = f/|f| be the
/// unit vectors along the segments, m the unit vector along the component of the director d perpendicular to t, n the
/// unit vector along the component of the director g perpendicular to u, and c = 1 + t·u. The bending strains κ₁ and κ₂
/// and the twist τ are
///  κ₁ = (u·m - t·n)/c,   κ₂ = -(t×u)·(m + n)/c,   τ = angle about u from P m to n,   P m = m - (u·m)/c (t + u),
/// where P is the rotation without twist that maps t to u. If the rod is traversed in the opposite direction, the
/// bending strain κ₁ and the twist τ keep their signs, and the bending strain κ₂ changes sign. The twist τ is between
/// -π and π. If the two segments have opposite directions, the bending strains are infinite and the twist is undefined.
template <class T>
class JointStrains {
 public:
  T bending1, bending2, twist;

  DIFFSIM_FUNCTION JointStrains(const Vec3<T>& e, const Vec3<T>& f, const Vec3<T>& d, const Vec3<T>& g)
      : t_(e), u_(f), m_(d, t_.unit), n_(g, u_.unit) {
    using std::atan2;
    const Vec3<T>&t = t_.unit, &u = u_.unit, &m = m_.unit, &n = n_.unit;
    c_ = 1.0 + dot(t, u);
    um_ = dot(u, m);
    tn_ = dot(t, n);
    tu_ = cross(t, u);
    bending1 = (um_ - tn_) / c_;
    bending2 = -dot(tu_, m + n) / c_;
    cosine_ = dot(m, n) - um_ * tn_ / c_;
    sine_ = dot(u, cross(m, n)) + um_ * dot(n, tu_) / c_;
    twist = atan2(sine_, cosine_);
  }

  /// Sets `e`, `f`, `d` and `g` to the derivatives of a function of the bending strains κ₁ and κ₂ and the twist τ with
  /// respect to the edge vectors e and f and the directors d and g; `by1`, `by2` and `by_twist` are the derivatives of
  /// the function with respect to κ₁, κ₂ and τ.
  DIFFSIM_FUNCTION void pull_back(const T& by1, const T& by2, const T& by_twist, Vec3<T>& e, Vec3<T>& f, Vec3<T>& d,
                                  Vec3<T>& g) const {
    const Vec3<T>&t = t_.unit, &u = u_.unit, &m = m_.unit, &n = n_.unit;
    const T by_sine = by_twist * cosine_, by_cosine = -by_twist * sine_;  // because sine_² + cosine_² = 1
    const T ntu = dot(n, tu_);
    const T by_um = (by1 - by_cosine * tn_ + by_sine * ntu) / c_;
    const T by_tn = -(by1 + by_cosine * um_) / c_;
    const T by_c = (-by1 * bending1 - by2 * bending2 + by_cosine * um_ * tn_ / c_ - by_sine * um_ * ntu / c_) / c_;
    const Vec3<T> mn = cross(m, n), nu = cross(n, u), um = cross(u, m);
    Vec3<T> by_t, by_u, by_m, by_n, by_tu;
    for (int k = 0; k < 3; ++k) {
      by_tu[k] = -by2 / c_ * (m[k] + n[k]) + by_sine * um_ / c_ * n[k];
      by_m[k] = -by2 / c_ * tu_[k] + by_cosine * n[k] + by_sine * nu[k] + by_um * u[k];
      by_n[k] = -by2 / c_ * tu_[k] + by_cosine * m[k] + by_sine * (um[k] + um_ / c_ * tu_[k]) + by_tn * t[k];
      by_t[k] = by_tn * n[k] + by_c * u[k];
      by_u[k] = by_sine * mn[k] + by_um * m[k] + by_c * t[k];
    }
    by_t = by_t + cross(u, by_tu);
    by_u = by_u + cross(by_tu, t);
    m_.pull_back(by_m, t, d, by_t);
    n_.pull_back(by_n, u, g, by_u);
    t_.pull_back(by_t, e);
    u_.pull_back(by_u, f);
  }

 private:
  static DIFFSIM_FUNCTION T length(const Vec3<T>& x) {
    using std::sqrt;
    return sqrt(dot(x, x));
  }

  /// Unit vector along a vector x, and the length of x.
  struct Direction {
    Vec3<T> unit;
    T length;
    DIFFSIM_FUNCTION explicit Direction(const Vec3<T>& x) : length(JointStrains::length(x)) {
      for (int k = 0; k < 3; ++k) unit[k] = x[k] / length;
    }
    /// Sets `by_x` to the derivative with respect to x of a function of the unit vector x/|x|. `by_unit`: derivative of
    /// the function with respect to the unit vector.
    DIFFSIM_FUNCTION void pull_back(const Vec3<T>& by_unit, Vec3<T>& by_x) const {
      const T along = dot(unit, by_unit);
      for (int k = 0; k < 3; ++k) by_x[k] = (by_unit[k] - along * unit[k]) / length;
    }
  };
  /// Unit vector along the component of a director d perpendicular to a unit vector t.
  struct Across {
    Vec3<T> d, unit;
    T along, length;
    DIFFSIM_FUNCTION Across(const Vec3<T>& director, const Vec3<T>& t) : d(director), along(dot(director, t)) {
      for (int k = 0; k < 3; ++k) unit[k] = d[k] - along * t[k];
      length = JointStrains::length(unit);
      for (int k = 0; k < 3; ++k) unit[k] /= length;
    }
    /// Sets `by_d` to the derivative of a function of the vector `unit` with respect to the director d, and adds the
    /// derivative with respect to the unit vector t to `by_t`. `by_unit`: derivative of the function with respect to
    /// `unit`.
    DIFFSIM_FUNCTION void pull_back(const Vec3<T>& by_unit, const Vec3<T>& t, Vec3<T>& by_d, Vec3<T>& by_t) const {
      const T part = dot(unit, by_unit);
      Vec3<T> by_part;
      for (int k = 0; k < 3; ++k) by_part[k] = (by_unit[k] - part * unit[k]) / length;
      const T of_t = dot(t, by_part);
      for (int k = 0; k < 3; ++k) {
        by_d[k] = by_part[k] - of_t * t[k];
        by_t[k] -= along * by_part[k] + of_t * d[k];
      }
    }
  };

  Direction t_, u_;
  Across m_, n_;
  T c_, um_, tn_, cosine_, sine_;
  Vec3<T> tu_;
};

}  // namespace diffsim
