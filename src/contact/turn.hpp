// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact {

/// Rotation axis of an obstacle. If the member `turns` is false, the obstacle does not rotate.
struct Turn {
  bool turns = false;
  /// Unit vector along the rotation axis, `axis`, and a point on the rotation axis, `origin` (m).
  Vec3<double> axis{}, origin{};

  /// Returns the axis of a rotation about the line through the point `origin` along the vector `axis`. The vector
  /// `axis` may have any length; a zero vector means no rotation.
  static Turn about(const std::array<double, 3>& axis, const std::array<double, 3>& origin) {
    const double length = std::hypot(axis[0], axis[1], axis[2]);
    if (!(length > 0.0)) return {};
    return {true, {{axis[0] / length, axis[1] / length, axis[2] / length}}, {{origin[0], origin[1], origin[2]}}};
  }
};

namespace detail {
KOKKOS_INLINE_FUNCTION double sine(double a) { return std::sin(a); }
KOKKOS_INLINE_FUNCTION double cosine(double a) { return std::cos(a); }
template <class T, int N>
KOKKOS_INLINE_FUNCTION Dual<T, N> sine(const Dual<T, N>& a);
template <class T, int N>
KOKKOS_INLINE_FUNCTION Dual<T, N> cosine(const Dual<T, N>& a);
template <class T, int N>
KOKKOS_INLINE_FUNCTION Dual<T, N> sine(const Dual<T, N>& a) {
  return diffsim::detail::chain(a, sine(a.value), cosine(a.value));
}
template <class T, int N>
KOKKOS_INLINE_FUNCTION Dual<T, N> cosine(const Dual<T, N>& a) {
  return diffsim::detail::chain(a, cosine(a.value), T(0.0) - sine(a.value));
}
}  // namespace detail

/// Vector R(a, angle) r: the vector r rotated by the angle `angle` (rad) about the unit vector a = `axis` (Rodrigues'
/// formula).
template <class T>
KOKKOS_INLINE_FUNCTION Vec3<T> rotated(const Vec3<double>& axis, const T& angle, const Vec3<double>& r) {
  const Vec3<double> side = cross(axis, r);
  const double along = dot(axis, r);
  const T s = detail::sine(angle), k = detail::cosine(angle);
  Vec3<T> result;
  for (int c = 0; c < 3; ++c) result[c] = k * r[c] + s * side[c] + (1.0 - k) * (axis[c] * along);
  return result;
}

/// Cross product a × r.
template <class T>
KOKKOS_INLINE_FUNCTION Vec3<T> cross_axis(const Vec3<double>& a, const Vec3<T>& r) {
  return {{a[1] * r[2] - a[2] * r[1], a[2] * r[0] - a[0] * r[2], a[0] * r[1] - a[1] * r[0]}};
}

}  // namespace diffsim::contact
