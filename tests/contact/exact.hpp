// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Distances in rational arithmetic, the reference for the library's distances.

#include <gmpxx.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact::exact {

using Rational = mpq_class;
using Vector = std::array<Rational, 3>;

inline Vector vector(const Vec3<double>& x) { return {Rational(x[0]), Rational(x[1]), Rational(x[2])}; }
inline Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Rational dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Vector scaled(const Rational& s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline const Vector& shorter(const Vector& a, const Vector& b) { return dot(b, b) < dot(a, a) ? b : a; }

/// Vector from the segment's closest point to p.
inline Vector point_segment(const Vector& p, const Vector& a, const Vector& b) {
  const Vector e = minus(b, a), w = minus(p, a);
  const Rational length = dot(e, e);
  if (length == 0) return w;
  return minus(w, scaled(std::clamp(Rational(dot(w, e) / length), Rational(0), Rational(1)), e));
}

/// Vector from the closest point of triangle 1 2 3 to point 0.
inline Vector point_triangle(const std::array<Vector, 4>& x) {
  const Vector a = minus(x[2], x[1]), b = minus(x[3], x[1]), w = minus(x[0], x[1]), n = cross(a, b);
  const Rational area = dot(n, n);
  if (area != 0) {
    const Rational beta = dot(cross(w, b), n), gamma = dot(cross(a, w), n);
    if (beta >= 0 && gamma >= 0 && beta + gamma <= area) return scaled(dot(w, n) / area, n);
  }
  return shorter(shorter(point_segment(x[0], x[1], x[2]), point_segment(x[0], x[2], x[3])),
                 point_segment(x[0], x[3], x[1]));
}

/// Vector from the closest point of edge 2 3 to that of edge 0 1.
inline Vector edge_edge(const std::array<Vector, 4>& x) {
  const Vector a = minus(x[1], x[0]), b = minus(x[3], x[2]), w = minus(x[2], x[0]), n = cross(a, b);
  const Rational sine = dot(n, n);
  if (sine != 0) {
    const Rational s = dot(cross(w, b), n), t = dot(cross(w, a), n);
    if (s >= 0 && s <= sine && t >= 0 && t <= sine) return scaled(-dot(w, n) / sine, n);
  }
  return shorter(shorter(point_segment(x[0], x[2], x[3]), point_segment(x[1], x[2], x[3])),
                 scaled(-1, shorter(point_segment(x[2], x[0], x[1]), point_segment(x[3], x[0], x[1]))));
}

inline double length(const Vector& a) { return std::sqrt(dot(a, a).get_d()); }

}  // namespace diffsim::contact::exact
