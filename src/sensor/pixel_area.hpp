// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/scalar_traits.hpp"

namespace diffsim::sensor {

/// Point of the image plane, in pixels, with the x axis to the right and the y axis upwards.
template <class T>
using ImagePoint = std::array<T, 2>;
/// Corners of a triangle in the image plane.
template <class T>
using ImageTriangle = std::array<ImagePoint<T>, 3>;

/// Rectangle x0 ≤ x ≤ x1, y0 ≤ y ≤ y1 of the image plane, in pixels.
struct PixelBox {
  std::array<double, 2> low;   ///< x0, y0
  std::array<double, 2> high;  ///< x1, y1
};

/// Returns the signed area of a triangle (pixels²), positive if the corners are in counterclockwise order.
template <class T>
T signed_area(const ImageTriangle<T>& q) {
  return 0.5 * ((q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]));
}

/// Part `begin` ≤ t ≤ `end` of the edge a + t (b - a), 0 ≤ t ≤ 1, from a point a to a point b. The part of the edge is
/// empty if `end` ≤ `begin`.
template <class T>
struct EdgePart {
  T begin = T(0.0), end = T(1.0);
  bool is_empty() const { return ScalarTraits<T>::base(end) <= ScalarTraits<T>::base(begin); }

  /// Removes, from the part of the edge ab, the points whose coordinate c (0: x, 1: y) is not between `low` and `high`.
  void clip(const ImagePoint<T>& a, const ImagePoint<T>& b, std::size_t c, double low, double high) {
    using Traits = ScalarTraits<T>;
    const T length = b[c] - a[c];
    const double start = Traits::base(a[c]);
    if (Traits::base(length) == 0.0) {
      if (start < low || start >= high) end = begin;
      return;
    }
    const bool is_rising = Traits::base(length) > 0.0;
    const T enter = ((is_rising ? low : high) - a[c]) / length, leave = ((is_rising ? high : low) - a[c]) / length;
    if (Traits::base(enter) > Traits::base(begin)) begin = enter;
    if (Traits::base(leave) < Traits::base(end)) end = leave;
  }
};

/// Returns the integral ∫ (min(max(x, x0), x1) - x0) dy along that part of the edge from a to b for which y0 ≤ y ≤ y1,
/// with the bounds x0, x1, y0 and y1 of `box`.
inline double area_beside_edge(const ImagePoint<double>& a, const ImagePoint<double>& b, const PixelBox& box) {
  const double x0 = box.low[0], width = box.high[0] - box.low[0];
  const double ex = b[0] - a[0], ey = b[1] - a[1];
  EdgePart<double> in_rows;
  in_rows.clip(a, b, 1, box.low[1], box.high[1]);
  if (ey == 0.0 || in_rows.is_empty()) return 0.0;
  if (ex == 0.0) return std::clamp(a[0] - x0, 0.0, width) * (in_rows.end - in_rows.begin) * ey;
  const auto bounded = [&](double t) { return std::clamp(t, in_rows.begin, in_rows.end); };
  const double at_left = bounded((x0 - a[0]) / ex), at_right = bounded((x0 + width - a[0]) / ex);
  const double begin = std::min(at_left, at_right), end = std::max(at_left, at_right);
  // Between `begin` and `end`, x0 ≤ x ≤ x1 and the integrand is linear. On the side of `at_right`, x ≥ x1.
  const double beyond = ex > 0.0 ? in_rows.end - end : begin - in_rows.begin;
  const double middle = a[0] + 0.5 * (begin + end) * ex - x0;
  return (width * beyond + middle * (end - begin)) * ey;
}

/// Returns the area (pixels²) of the part of a triangle inside a box, positive if the triangle's corners are in
/// counterclockwise order, negative if they are in clockwise order.
inline double area_inside(const ImageTriangle<double>& q, const PixelBox& box) {
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k) sum += area_beside_edge(q[k], q[(k + 1) % 3], box);
  return sum;
}

/// Adds ∂A/∂q, multiplied by `w`, to `q_bar`, where A is the result of `area_inside` and q are the corners of the
/// triangle. If an edge of the triangle moves, the area A changes by the integral of the edge's normal displacement
/// over the part of the edge inside the box. An edge a + t (b - a) with the normal n = (b_y - a_y, a_x - b_x) therefore
/// contributes n ∫ (1 - t) dt to ∂A/∂a and n ∫ t dt to ∂A/∂b, with integrals over the part of the edge inside the box.
template <class T>
void add_area_gradient(const ImageTriangle<T>& q, const PixelBox& box, const T& w, ImageTriangle<T>& q_bar) {
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3;
    const ImagePoint<T>&a = q[k], &b = q[next];
    EdgePart<T> inside;
    for (std::size_t c = 0; c < 2; ++c) inside.clip(a, b, c, box.low[c], box.high[c]);
    if (inside.is_empty()) continue;
    const T of_b = 0.5 * w * (inside.end * inside.end - inside.begin * inside.begin);
    const T of_a = w * (inside.end - inside.begin) - of_b;
    const ImagePoint<T> normal{b[1] - a[1], a[0] - b[0]};
    for (std::size_t c = 0; c < 2; ++c) {
      q_bar[k][c] += normal[c] * of_a;
      q_bar[next][c] += normal[c] * of_b;
    }
  }
}

}  // namespace diffsim::sensor
