// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/stencil_force.hpp"

namespace diffsim {

/// Kinds of cells that a vertex can be attached to; a lone vertex is one of them.
enum class AnchorKind : int {
  vertex = 1,
  segment = 2,
  framed_segment = 3,  ///< a segment with its director
  triangle = 4,
  tetrahedron = 5,
};

/// Place of an anchor in a cell with the nodes q, by its coordinates ξ:
///
///   vertex           q₀
///   segment          q₀ + ξ₁ (q₁ - q₀)
///   framed segment   q₀ + ξ₁ (q₁ - q₀) + ξ₂ m + ξ₃ t×m, t the segment's direction, m that of its director q₂ across t
///   triangle         q₀ + ξ₁ (q₁ - q₀) + ξ₂ (q₂ - q₀) + ξ₃ n, n the unit normal
///   tetrahedron      q₀ + ξ₁ (q₁ - q₀) + ξ₂ (q₂ - q₀) + ξ₃ (q₃ - q₀)
///
/// ξ beside a unit vector is a length, m, else a number.
template <class T>
DIFFSIM_FUNCTION Vec3<T> anchor_place(AnchorKind kind, const Vec3<T>* q, const T* xi) {
  using std::sqrt;
  Vec3<T> p = q[0];
  if (kind == AnchorKind::vertex) return p;
  const Vec3<T> a = q[1] - q[0];
  for (int c = 0; c < 3; ++c) p[c] += xi[0] * a[c];
  if (kind == AnchorKind::segment) return p;
  if (kind == AnchorKind::framed_segment) {
    const Vec3<T>& d = q[2];
    const T length = sqrt(dot(a, a)), part = dot(a, d) / (length * length);
    Vec3<T> m;
    for (int c = 0; c < 3; ++c) m[c] = d[c] - part * a[c];
    const T size = sqrt(dot(m, m));
    const Vec3<T> other = cross(a, m);
    for (int c = 0; c < 3; ++c) p[c] += xi[1] / size * m[c] + xi[2] / (size * length) * other[c];
    return p;
  }
  const Vec3<T> b = q[2] - q[0];
  for (int c = 0; c < 3; ++c) p[c] += xi[1] * b[c];
  if (kind == AnchorKind::triangle) {
    const Vec3<T> normal = cross(a, b);
    const T height = xi[2] / sqrt(dot(normal, normal));
    for (int c = 0; c < 3; ++c) p[c] += height * normal[c];
  } else {
    const Vec3<T> e = q[3] - q[0];
    for (int c = 0; c < 3; ++c) p[c] += xi[2] * e[c];
  }
  return p;
}

/// Spring between a vertex x₀ and its anchor in a cell with the nodes x₁ …: E = k/2 |x₀ - p(ξ)|². p: k, ξ.
struct AttachmentSpring {
  static constexpr int num_nodes = 5, num_values = 4;

  AnchorKind kind = AnchorKind::vertex;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const Vec3<T> r = at.x[0] - anchor_place(kind, at.x + 1, at.p + 1);
    return 0.5 * at.p[0] * dot(r, r);
  }
};

}  // namespace diffsim
