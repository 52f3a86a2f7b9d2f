// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "diffsim/core/impl/small_tensor.hpp"

/// Squared distances of point–triangle (x0; x1 x2 x3) and edge–edge (x0 x1; x2 x3) pairs, with derivatives. A pair
/// consists of two primitives: a point and a triangle, or two edges.
///
/// The distance of a pair equals the distance of two features, one of each primitive, where a feature is a point of the
/// pair, or the line or plane through two or three points of the pair. The indices p, q, plus[a] and minus[a] of points
/// define two features (points, lines or planes), whose squared distance is
///   d² = min_λ |r(λ)|²,  r(λ) = x_p - x_q + Σ_a λ_a e_a,  e_a = x_{plus[a]} - x_{minus[a]},
/// with zero (point–point), one (point–line) or two (point–plane, line–line) variables λ_a. With [k=p] = 1 for k = p,
/// else 0, the vector r(λ) is a linear combination of the points x_k of the pair,
///   r = Σ_k c_k(λ) x_k,  c_k = [k=p] - [k=q] + Σ_a λ_a B_ka,  B_ka = [k=plus[a]] - [k=minus[a]],
/// and the minimum has r ⊥ e_a. With the matrix G_ab = e_a·e_b, the derivatives of the squared distance d² are
///   ∂d²/∂x_k       = 2 c_k r                                                        (envelope theorem)
///   ∂²d²/∂x_k∂x_l  = 2 c_k c_l I - 2 Σ_ab (c_k e_a + B_ka r) G⁻¹_ab (c_l e_b + B_lb r)ᵀ  (implicit differentiation).
namespace diffsim::contact {

/// Two features of a pair with the points x_0 … x_3, where a feature is a point, or the line or plane through two or
/// three points. The squared distance of the two features of a DistanceType is
///   min_λ |x_p - x_q + Σ_a λ_a (x_{plus[a]} - x_{minus[a]})|²,
/// where the sum is over all a < `free`, and the members `p`, `q`, `plus` and `minus` are indices, 0 to 3, of the
/// pair's points x_k.
struct DistanceType {
  std::int8_t free;  ///< number of variables λ_a over which the squared distance is minimised: 0, 1 or 2
  std::int8_t p, q;
  std::int8_t plus[2], minus[2];

  DIFFSIM_FUNCTION bool operator==(const DistanceType& other) const {
    bool equal = free == other.free && p == other.p && q == other.q;
    for (int a = 0; a < free; ++a) equal = equal && plus[a] == other.plus[a] && minus[a] == other.minus[a];
    return equal;
  }
};

DIFFSIM_FUNCTION DistanceType point_point(int i, int j) {
  return {0, static_cast<std::int8_t>(i), static_cast<std::int8_t>(j), {0, 0}, {0, 0}};
}
/// DistanceType of point i and the line through points j and k.
DIFFSIM_FUNCTION DistanceType point_line(int i, int j, int k) {
  const auto from = static_cast<std::int8_t>(j), to = static_cast<std::int8_t>(k);
  return {1, static_cast<std::int8_t>(i), from, {from, 0}, {to, 0}};
}
/// DistanceType of point 0 and the plane through points 1, 2 and 3.
DIFFSIM_FUNCTION DistanceType point_plane() { return {2, 0, 1, {1, 1}, {2, 3}}; }
/// DistanceType of the line through points 0 and 1 and the line through points 2 and 3.
DIFFSIM_FUNCTION DistanceType line_line() { return {2, 0, 2, {1, 2}, {0, 3}}; }

namespace detail {
template <class T>
DIFFSIM_FUNCTION Vec3<T> scaled(const T& s, const Vec3<T>& a) {
  return {{s * a[0], s * a[1], s * a[2]}};
}

/// Difference of products a b - c d. For the type double, the error of a b - c d is at most two ulps (units in the last
/// place) of the result, regardless of cancellation (Kahan; Jeannerod, Louvet & Muller 2013).
template <class T>
DIFFSIM_FUNCTION T product_difference(const T& a, const T& b, const T& c, const T& d) {
  return a * b - c * d;
}
DIFFSIM_FUNCTION double product_difference(double a, double b, double c, double d) {
  const double cd = c * d;
  return std::fma(a, b, -cd) + std::fma(-c, d, cd);
}
/// Cross product a × b, accurate also for nearly parallel vectors. A distance that is computed with `accurate_cross`
/// equals the exact distance of primitives whose points are displaced by at most a few ulps (units in the last place)
/// of the size of the pair, so the error of the distance is at most a few ulps of the size of the pair.
template <class T>
DIFFSIM_FUNCTION Vec3<T> accurate_cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {{product_difference(a[1], b[2], a[2], b[1]), product_difference(a[2], b[0], a[0], b[2]),
           product_difference(a[0], b[1], a[1], b[0])}};
}
}  // namespace detail

/// Closest points of two features (see DistanceType): the difference r of these points, and the quantities that the
/// derivatives of the distance need. The difference of the closest points is r = x_p - x_q + Σ_a λ_a e_a = Σ_k c_k x_k,
/// with the indices p, q, plus and minus of the DistanceType, e_a = x_{plus[a]} - x_{minus[a]}, and the λ_a that
/// minimise |r|. The members `lambda` and `e` contain λ_a and e_a, `c(k)` returns c_k, and `b(k, a)` returns ∂c_k/∂λ_a.
template <class T>
struct Closest {
  DistanceType type;
  Vec3<T> r;  ///< vector from the second feature's closest point to the first feature's closest point
  T lambda[2];
  Vec3<T> e[2];
  T inverse_gram[3];  ///< entries (0, 0), (0, 1) and (1, 1) of the inverse of the Gram matrix e_a·e_b of `e`

  DIFFSIM_FUNCTION T squared_distance() const { return dot(r, r); }
  DIFFSIM_FUNCTION double b(int k, int a) const {
    return (k == type.plus[a] ? 1.0 : 0.0) - (k == type.minus[a] ? 1.0 : 0.0);
  }
  DIFFSIM_FUNCTION T c(int k) const {
    T sum = T((k == type.p ? 1.0 : 0.0) - (k == type.q ? 1.0 : 0.0));
    for (int a = 0; a < type.free; ++a) sum = sum + lambda[a] * T(b(k, a));
    return sum;
  }
};

/// Closest points of the two features that the DistanceType `type` describes. The lines and planes of a DistanceType
/// must not be degenerate: with their direction vectors e_a = x_{plus[a]} - x_{minus[a]}, |e_0|² > 0 and, with two
/// vectors, |e_0 × e_1|² > 0.
template <class T>
DIFFSIM_FUNCTION Closest<T> closest(const DistanceType& type, const Vec3<T>* x) {
  Closest<T> result;
  result.type = type;
  const Vec3<T> r0 = x[type.p] - x[type.q];
  result.r = r0;
  for (int a = 0; a < 2; ++a) {
    result.lambda[a] = T(0.0);
    result.e[a] = a < type.free ? x[type.plus[a]] - x[type.minus[a]] : Vec3<T>{{T(0.0), T(0.0), T(0.0)}};
  }
  for (int i = 0; i < 3; ++i) result.inverse_gram[i] = T(0.0);
  const Vec3<T>&e0 = result.e[0], &e1 = result.e[1];
  if (type.free == 1) {
    result.inverse_gram[0] = T(1.0) / dot(e0, e0);
    result.lambda[0] = T(0.0) - dot(r0, e0) * result.inverse_gram[0];
    result.r = r0 + detail::scaled(result.lambda[0], e0);
  } else if (type.free == 2) {
    // With the normal n = e_0 × e_1, det G = |n|².
    const Vec3<T> n = detail::accurate_cross(e0, e1);
    const T inverse = T(1.0) / dot(n, n);
    result.inverse_gram[0] = dot(e1, e1) * inverse;
    result.inverse_gram[1] = T(0.0) - dot(e0, e1) * inverse;
    result.inverse_gram[2] = dot(e0, e0) * inverse;
    result.lambda[0] = T(0.0) - dot(detail::accurate_cross(r0, e1), n) * inverse;
    result.lambda[1] = T(0.0) - dot(detail::accurate_cross(e0, r0), n) * inverse;
    result.r = detail::scaled(T(dot(r0, n) * inverse), n);
  }
  return result;
}

// ---- value, gradient, Hessian of d² --------------------------------------------------------------------------

template <class T>
DIFFSIM_FUNCTION T squared_distance(const DistanceType& type, const Vec3<T>* x) {
  return closest(type, x).squared_distance();
}
/// Gradient ∂d²/∂x_k of the squared distance d² of two features with the closest points `at`.
template <class T>
DIFFSIM_FUNCTION Vec3<T> squared_distance_gradient(const Closest<T>& at, int k) {
  return detail::scaled(T(T(2.0) * at.c(k)), at.r);
}
/// Hessian block ∂²d²/∂x_k∂x_l of the squared distance d² of two features with the closest points `at`.
template <class T>
DIFFSIM_FUNCTION Mat3<T> squared_distance_hessian(const Closest<T>& at, int k, int l) {
  const T ck = at.c(k), cl = at.c(l);
  Mat3<T> h;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) h(i, j) = i == j ? T(2.0) * ck * cl : T(0.0);
  for (int a = 0; a < at.type.free; ++a)
    for (int b = 0; b < at.type.free; ++b) {
      const T g = T(-2.0) * at.inverse_gram[a + b];
      for (int i = 0; i < 3; ++i) {
        const T left = g * (ck * at.e[a][i] + T(at.b(k, a)) * at.r[i]);
        for (int j = 0; j < 3; ++j) h(i, j) = h(i, j) + left * (cl * at.e[b][j] + T(at.b(l, b)) * at.r[j]);
      }
    }
  return h;
}
/// Product of the Hessian of the squared distance d² and the vectors v, y_k = Σ_l ∂²d²/∂x_k∂x_l v_l for the four points
/// k, computed without the matrix.
template <class T>
DIFFSIM_FUNCTION void squared_distance_hessian_product(const Closest<T>& at, const Vec3<T>* v, Vec3<T>* y) {
  // Computes dr at fixed λ, then dλ from G dλ = -(de·r + e·dr).
  Vec3<T> dr = {{T(0.0), T(0.0), T(0.0)}};
  for (int k = 0; k < 4; ++k) dr = dr + detail::scaled(at.c(k), v[k]);
  T right[2], dlambda[2];
  for (int a = 0; a < at.type.free; ++a)
    right[a] = T(0.0) - dot(v[at.type.plus[a]] - v[at.type.minus[a]], at.r) - dot(at.e[a], dr);
  for (int a = 0; a < at.type.free; ++a) {
    dlambda[a] = T(0.0);
    for (int b = 0; b < at.type.free; ++b) dlambda[a] = dlambda[a] + at.inverse_gram[a + b] * right[b];
  }
  for (int a = 0; a < at.type.free; ++a) dr = dr + detail::scaled(dlambda[a], at.e[a]);
  for (int k = 0; k < 4; ++k) {
    T dc = T(0.0);
    for (int a = 0; a < at.type.free; ++a) dc = dc + dlambda[a] * T(at.b(k, a));
    y[k] = detail::scaled(T(T(2.0) * dc), at.r) + detail::scaled(T(T(2.0) * at.c(k)), dr);
  }
}

// ---- choice of the closest features --------------------------------------------------------------------------

/// Two features, each a point, a line or a plane, and the squared distance (m²) of the features.
struct TypedDistance {
  DistanceType type;
  double squared;
};

namespace detail {

/// Threshold of sin² of the angle between the two edges of an edge–edge pair, or between the edges x1 x2 and x1 x3 of a
/// triangle, up to which the two edges count as parallel, or the triangle as degenerate. The distance of a pair with
/// parallel edges or a degenerate triangle is computed as the smallest distance between a point and a segment: between
/// an end of one edge and the other edge, or between point x0 and an edge of the triangle. The distance of a point and
/// a segment is always well conditioned. For parallel edges or a degenerate triangle, the error of the pair's distance
/// is at most 1e-12 times the length of the pair's longest edge.
constexpr double parallel_sine_squared = 1e-24;

/// Returns the smaller of two distances, or the first distance if both distances are equal.
DIFFSIM_FUNCTION TypedDistance nearer(const TypedDistance& a, const TypedDistance& b) {
  return b.squared < a.squared ? b : a;
}

/// Closest features of point i and the segment with the ends j and k, and their squared distance. The ends may
/// coincide.
DIFFSIM_FUNCTION TypedDistance point_segment(const Vec3<double>* x, int i, int j, int k) {
  const Vec3<double> e = x[k] - x[j];
  const double along = dot(x[i] - x[j], e), length = dot(e, e);
  if (along <= 0.0) {
    const Vec3<double> r = x[i] - x[j];
    return {point_point(i, j), dot(r, r)};
  }
  if (along >= length) {
    const Vec3<double> r = x[i] - x[k];
    return {point_point(i, k), dot(r, r)};
  }
  const DistanceType type = point_line(i, j, k);
  return {type, squared_distance(type, x)};
}

}  // namespace detail

/// Closest features of point x0 and triangle x1 x2 x3, and their squared distance. The points x0, x1, x2 and x3 may
/// coincide or be collinear. If the projection of x0 onto the triangle's plane is outside the triangle, the closest
/// point of the triangle lies on one of the three sides, because the distance is a convex function.
DIFFSIM_FUNCTION TypedDistance point_triangle_distance(const Vec3<double>* x) {
  TypedDistance best =
      detail::nearer(detail::nearer(detail::point_segment(x, 0, 1, 2), detail::point_segment(x, 0, 2, 3)),
                     detail::point_segment(x, 0, 3, 1));
  const Vec3<double> e1 = x[2] - x[1], e2 = x[3] - x[1], n = detail::accurate_cross(e1, e2), w = x[0] - x[1];
  const double area = dot(n, n);
  if (!(area > detail::parallel_sine_squared * dot(e1, e1) * dot(e2, e2))) return best;
  const double beta = dot(detail::accurate_cross(w, e2), n), gamma = dot(detail::accurate_cross(e1, w), n);
  if (!(beta > 0.0 && gamma > 0.0 && beta + gamma < area)) return best;
  const double height = dot(w, n);
  return {point_plane(), height * height / area};
}

/// Closest features of the edges x0 x1 and x2 x3, and their squared distance. The edges x0 x1 and x2 x3 may be parallel
/// or have coincident ends.
DIFFSIM_FUNCTION TypedDistance edge_edge_distance(const Vec3<double>* x) {
  TypedDistance best =
      detail::nearer(detail::nearer(detail::point_segment(x, 0, 2, 3), detail::point_segment(x, 1, 2, 3)),
                     detail::nearer(detail::point_segment(x, 2, 0, 1), detail::point_segment(x, 3, 0, 1)));
  const Vec3<double> a = x[1] - x[0], b = x[3] - x[2], n = detail::accurate_cross(a, b), w = x[2] - x[0];
  const double sine = dot(n, n);
  if (!(sine > detail::parallel_sine_squared * dot(a, a) * dot(b, b))) return best;
  const double s = dot(detail::accurate_cross(w, b), n), t = dot(detail::accurate_cross(w, a), n);
  if (!(s > 0.0 && s < sine && t > 0.0 && t < sine)) return best;
  const double height = dot(w, n);
  return {line_line(), height * height / sine};
}

}  // namespace diffsim::contact
