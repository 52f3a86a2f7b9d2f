// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "shell/plate_stencil.hpp"

// Rest quantities for the bending energy of a triangle, computed from the rest positions of the triangle's stencil.

namespace diffsim::shell {

/// Quantities of a triangle's bending energy that depend on the rest positions only. Let δ_h be the change of the angle
/// at hinge h of the triangle's stencil, and b_i the change, at the middle of side i, of the angle between the
/// triangle's normal and the normal of the bent surface. At an inner side (HingeState::inner), b_i = δ_i/2 + Σ_k c_ik
/// δ_(slope_hinge(i, k)) with the coefficients c_ik = `c`[i][k]. The triangle's curvature tensor changes by κ = 1/A Σ_i
/// l_i b_i ν_i⊗ν_i, with the rest area A, the rest lengths l_i and the outward in-plane unit normals ν_i of the sides.
template <class T>
struct PlateRest {
  static constexpr int size = 24;
  T c[3][num_slope_hinges];
  /// Products l_i l_j (ν_i·ν_j)²/A for the pairs ij = 00, 11, 22, 12, 20, 01 of sides with the rest lengths l and the
  /// unit normals ν, where A is the rest area.
  T G[6];
  T L[3];  ///< l_i/√A

  DIFFSIM_FUNCTION T& operator[](int k) { return k < 15 ? c[k / 5][k % 5] : k < 21 ? G[k - 15] : L[k - 21]; }
  DIFFSIM_FUNCTION const T& operator[](int k) const {
    return k < 15 ? c[k / 5][k % 5] : k < 21 ? G[k - 15] : L[k - 21];
  }
};

/// Position of the third corner r of a triangle relative to the side from p to q: the coordinate `along` in the
/// direction of the side, measured from p, and the distance `height` from the line through p and q.
template <class T>
struct BesideEdge {
  T length, along, height;

  DIFFSIM_FUNCTION BesideEdge(const Vec3<T>& p, const Vec3<T>& q, const Vec3<T>& r) {
    using std::sqrt;
    const Vec3<T> e = q - p, d = r - p, normal = cross(e, d);
    length = sqrt(dot(e, e));
    along = dot(d, e) / length;
    height = sqrt(dot(normal, normal)) / length;
  }
};

/// Coefficients of a linear form in the three components (κ_xx, κ_yy, √2 κ_xy) of a plate's curvature tensor κ.
template <class T>
using CurvatureForm = Vec3<T>;

/// Returns the angle, at the middle of a side, from the normal of the flat triangle on the left of the side to the
/// normal of the bent surface. The bent surface has the deflection ½ x·κ x at the position x in the plane of the
/// triangle, with the curvature tensor κ. The result is a linear form in the curvature components (κ_tt, κ_nn, √2
/// κ_tn), where t is the unit vector along the side, and n is the unit vector in the plane that is normal to t and
/// points to the right of t. The angle between two flat triangles at their common
/// side is the sum of the linear forms of `rotation_left` and `rotation_right`. `of`: third corner of the triangle on
/// the left of the side.
template <class T>
DIFFSIM_FUNCTION CurvatureForm<T> rotation_left(const BesideEdge<T>& of) {
  const double root = 0.70710678118654752440;
  return {{0.5 * of.along * (of.along - of.length) / of.height, 0.5 * of.height, root * (0.5 * of.length - of.along)}};
}
/// Returns the angle, at the middle of a side, from the normal of the bent surface to the normal of the flat triangle
/// on the right of the side. The result is a linear form in the same curvature components as for `rotation_left`. `of`:
/// third corner of the triangle on the right of the side.
template <class T>
DIFFSIM_FUNCTION CurvatureForm<T> rotation_right(const BesideEdge<T>& of) {
  CurvatureForm<T> form = rotation_left(of);
  form[2] = -form[2];
  return form;
}

/// Converts `form`, a linear form in the curvature components (κ_tt, κ_nn, √2 κ_tn) along the axes t and n of a side,
/// to a linear form in the curvature components (κ_xx, κ_yy, √2 κ_xy) along the axes x and y of a common basis of all
/// sides. `x`, `y`: components of the unit vector t along the axes x and y.
template <class T>
DIFFSIM_FUNCTION CurvatureForm<T> turned(const CurvatureForm<T>& form, const T& x, const T& y) {
  const double root = 1.41421356237309504880;
  // With t = (x, y) and n = (y, -x), κ_tt, κ_nn and √2 κ_tn are expressed in κ_xx, κ_yy and √2 κ_xy.
  const T xx = x * x, yy = y * y, xy = x * y;
  return {{form[0] * xx + form[1] * yy + root * form[2] * xy, form[0] * yy + form[1] * xx - root * form[2] * xy,
           root * (form[0] - form[1]) * xy + form[2] * (yy - xx)}};
}

/// Computes the eigenvalues of a symmetric matrix, largest first (Smith 1961). If two eigenvalues nearly coincide, the
/// relative error of the computed eigenvalues of the matrix is up to the square root of the machine precision.
DIFFSIM_FUNCTION void rough_eigenvalues(const Mat3<double>& a, double (&value)[3]) {
  const double mean = trace(a) / 3.0;
  Mat3<double> b = a;
  for (int k = 0; k < 3; ++k) b(k, k) -= mean;
  const double size = std::sqrt(inner(b, b) / 6.0);
  if (size == 0.0) {
    for (double& v : value) v = mean;
    return;
  }
  double half = 0.5 * determinant(b) / (size * size * size);
  half = half > 1.0 ? 1.0 : half < -1.0 ? -1.0 : half;
  const double angle = std::acos(half) / 3.0, third = 2.09439510239319549231;
  value[0] = mean + 2.0 * size * std::cos(angle);
  value[2] = mean + 2.0 * size * std::cos(angle + third);
  value[1] = 3.0 * mean - value[0] - value[2];
}

/// Returns the matrix of the orthogonal projection onto the eigenvector of a simple eigenvalue of the symmetric matrix
/// a. `value`: an approximation of the eigenvalue on entry, and the eigenvalue on return, computed by Newton's method.
template <class T>
DIFFSIM_FUNCTION Mat3<T> eigenprojection(const Mat3<T>& a, T& value) {
  Mat3<T> adjugate = a;
  for (int step = 0; step < 4; ++step) {
    Mat3<T> shifted = a;
    for (int k = 0; k < 3; ++k) shifted(k, k) -= value;
    adjugate = cofactor(shifted);
    if (step < 3) value += determinant(shifted) / trace(adjugate);
  }
  return (T(1.0) / trace(adjugate)) * adjugate;
}

/// Returns y such that x = aᵀ y is the minimum-norm least-squares solution of a x = b, given G = a aᵀ. Singular values
/// of a that are less than 0.03 times the largest singular value are treated as zero.
template <class T>
DIFFSIM_FUNCTION Vec3<T> least_multipliers(const Mat3<T>& G, const Vec3<T>& b) {
  constexpr double cutoff = 0.03 * 0.03;
  Mat3<double> rough;
  for (int k = 0; k < 9; ++k) rough(k / 3, k % 3) = value_of(G(k / 3, k % 3));
  double values[3];
  rough_eigenvalues(rough, values);
  if (values[1] < cutoff * values[0]) {
    T largest(values[0]);
    const Mat3<T> onto = eigenprojection(G, largest);
    return ((T(1.0) / largest) * onto) * b;
  }
  if (values[2] >= cutoff * values[0]) return ((T(1.0) / determinant(G)) * cofactor(G)) * b;
  T least(values[2]);
  const Mat3<T> away = eigenprojection(G, least);
  const Mat3<T> regular = G + trace(G) * away;
  return ((T(1.0) / determinant(regular)) * cofactor(regular)) * (b - away * b);
}

/// Computes the coefficients c_ik = `c`[k] of PlateRest for side i of a triangle. Side i must be an inner side
/// (HingeState::inner). For a stencil that is flat in the rest shape, the angle change b_i of PlateRest is exact for
/// quadratic deflections. The slope of the surface at side i is the same for both triangles at the side. To compute the
/// coefficients, the rest shape of the stencil is unfolded into a plane. If the angles at the stencil's existing hinges
/// do not determine all three components of the curvature, b_i is exact only for the curvatures that these angles
/// determine. `X`: rest positions of the nodes of the stencil.
template <class T>
DIFFSIM_FUNCTION void set_slope_coefficients(const Vec3<T> (&X)[num_plate_nodes],
                                             const HingeState (&state)[num_plate_hinges], int i,
                                             T (&c)[num_slope_hinges]) {
  CurvatureForm<T> forms[num_slope_hinges], wanted = {{T(0.0), T(0.0), T(0.0)}};
  for (int k = 0; k < num_slope_hinges; ++k) {
    const int slot = slope_hinge(i, k);
    forms[k] = {{T(0.0), T(0.0), T(0.0)}};
    if (state[slot] == HingeState::none) continue;
    const PlateHinge hinge = plate_hinge(slot);
    const BesideEdge<T> left(X[hinge.node[0]], X[hinge.node[1]], X[hinge.node[2]]);
    forms[k] = rotation_left(left);
    if (state[slot] == HingeState::held) continue;
    const BesideEdge<T> right(X[hinge.node[0]], X[hinge.node[1]], X[hinge.node[3]]);
    const CurvatureForm<T> other = rotation_right(right);
    if (k == 0)
      for (int r = 0; r < 3; ++r) wanted[r] = 0.5 * (forms[0][r] - other[r]);
    forms[k] = forms[k] + other;
  }
  // Direction vectors (x, y) of the sides. The x axis is along side i, and this triangle lies at y > 0.
  const PlateHinge own = plate_hinge(i);
  const BesideEdge<T> here(X[own.node[0]], X[own.node[1]], X[own.node[2]]);
  const BesideEdge<T> there(X[own.node[0]], X[own.node[1]], X[own.node[3]]);
  const T l = here.length;
  const T x[num_slope_hinges] = {l, here.along - l, -here.along, there.along, l - there.along};
  const T y[num_slope_hinges] = {T(0.0), here.height, -here.height, -there.height, there.height};
  Mat3<T> G = Mat3<T>::zero();
  for (int k = 0; k < num_slope_hinges; ++k) {
    using std::sqrt;
    const T length = sqrt(x[k] * x[k] + y[k] * y[k]);
    forms[k] = turned(forms[k], x[k] / length, y[k] / length);
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) G(r, s) += forms[k][r] * forms[k][s];
  }
  wanted = turned(wanted, T(1.0), T(0.0));
  const Vec3<T> y_of = least_multipliers(G, wanted);
  for (int k = 0; k < num_slope_hinges; ++k) c[k] = dot(forms[k], y_of);
}

/// Returns the rest quantities of a triangle's bending energy. `X`: rest positions of the nodes of the triangle's
/// stencil; `state`: states of the hinges of the stencil.
template <class T>
DIFFSIM_FUNCTION PlateRest<T> plate_rest(const Vec3<T> (&X)[num_plate_nodes],
                                         const HingeState (&state)[num_plate_hinges]) {
  using std::sqrt;
  PlateRest<T> rest;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < num_slope_hinges; ++k) rest.c[i][k] = T(0.0);
    if (state[i] == HingeState::inner) set_slope_coefficients(X, state, i, rest.c[i]);
  }
  Vec3<T> e[3];
  T length[3];
  for (int i = 0; i < 3; ++i) {
    e[i] = X[(i + 2) % 3] - X[(i + 1) % 3];
    length[i] = sqrt(dot(e[i], e[i]));
  }
  const Vec3<T> normal = cross(e[0], e[1]);
  const T area = 0.5 * sqrt(dot(normal, normal)), root = sqrt(area);
  for (int i = 0; i < 3; ++i) {
    const int next = (i + 1) % 3, last = (i + 2) % 3;
    rest.G[i] = length[i] * length[i] / area;
    const T cosine = dot(e[next], e[last]);
    rest.G[3 + i] = cosine * cosine / (length[next] * length[last] * area);
    rest.L[i] = length[i] / root;
  }
  return rest;
}

}  // namespace diffsim::shell
