// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Kinds of cells to which a vertex can be attached. The kind `vertex` means that a vertex is attached to another
/// vertex instead of a cell.
enum class AnchorKind : int {
  vertex = 1,
  segment = 2,
  framed_segment = 3,  ///< segment with a director (mesh/directors.hpp)
  triangle = 4,
  tetrahedron = 5,
};

/// Returns the position p of an anchor, which is the point of a cell to which a vertex is attached. p depends on the
/// coordinates ξ of the anchor in the cell and on the positions q of the cell's nodes:
///   vertex           p = q₀
///   segment          p = q₀ + ξ₁ (q₁ - q₀)
///   framed segment   p = q₀ + ξ₁ (q₁ - q₀) + ξ₂ m + ξ₃ t×m
///   triangle         p = q₀ + ξ₁ (q₁ - q₀) + ξ₂ (q₂ - q₀) + ξ₃ n
///   tetrahedron      p = q₀ + ξ₁ (q₁ - q₀) + ξ₂ (q₂ - q₀) + ξ₃ (q₃ - q₀)
/// where n is the unit normal of the triangle and t is the unit vector along the segment. For a framed segment, q₂ is
/// the director of the segment (mesh/directors.hpp), and m = (q₂ - (q₂·t) t)/|q₂ - (q₂·t) t|.
///
/// The coordinates ξ₂ and ξ₃ of an anchor in a segment with a director, and ξ₃ of an anchor in a triangle, are lengths
/// in metres; all other coordinates of anchors are dimensionless.
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

/// Applies the chain rule to a function F(p) of the position p(q, ξ) of an anchor (see `anchor_place`): sets by_q [4]
/// to ∂F/∂q and by_xi [3] to ∂F/∂ξ, given the gradient g = ∂F/∂p. q are the positions of the nodes of the anchor's
/// cell, and ξ = `xi` are the coordinates of the anchor in the cell.
template <class T>
DIFFSIM_FUNCTION void pull_back_anchor(AnchorKind kind, const Vec3<T>* q, const T* xi, const Vec3<T>& g, Vec3<T>* by_q,
                                       T* by_xi) {
  using std::sqrt;
  const Vec3<T> zero = {{T(0.0), T(0.0), T(0.0)}};
  for (int i = 0; i < 4; ++i) by_q[i] = zero;
  for (int k = 0; k < 3; ++k) by_xi[k] = T(0.0);
  by_q[0] = g;
  if (kind == AnchorKind::vertex) return;
  // Derivatives with respect to the edges a = q₁ - q₀, b = q₂ - q₀ and q₃ - q₀. A director q₂ is a vector and not a
  // position, so the derivative with respect to q₂ does not contribute to the derivative with respect to q₀.
  const Vec3<T> a = q[1] - q[0];
  Vec3<T> by_a = xi[0] * g;
  by_xi[0] = dot(a, g);
  if (kind == AnchorKind::framed_segment) {
    const Vec3<T>& d = q[2];
    const T square = dot(a, a), length = sqrt(square), part = dot(a, d) / square;
    Vec3<T> m = d - part * a;
    const T size = sqrt(dot(m, m));
    m = (1.0 / size) * m;
    const T over = xi[2] / length;
    const Vec3<T> other = (1.0 / length) * cross(a, m), by_unit = xi[1] * g + over * cross(g, a);
    const Vec3<T> by_m = (1.0 / size) * (by_unit - dot(m, by_unit) * m);
    const T by_part = -dot(a, by_m) / square;
    by_xi[1] = dot(g, m);
    by_xi[2] = dot(g, other);
    by_a = by_a + over * cross(m, g) - (over * by_xi[2] / length) * a - part * by_m + by_part * (d - 2.0 * part * a);
    by_q[2] = by_m + by_part * a;
  } else if (kind != AnchorKind::segment) {
    const Vec3<T> b = q[2] - q[0];
    by_q[2] = xi[1] * g;
    by_xi[1] = dot(b, g);
    if (kind == AnchorKind::triangle) {
      Vec3<T> normal = cross(a, b);
      const T over_size = 1.0 / sqrt(dot(normal, normal));
      normal = over_size * normal;
      by_xi[2] = dot(normal, g);
      const Vec3<T> by_normal = (xi[2] * over_size) * (g - by_xi[2] * normal);
      by_a = by_a + cross(b, by_normal);
      by_q[2] = by_q[2] + cross(by_normal, a);
    } else {
      by_q[3] = xi[2] * g;
      by_xi[2] = dot(q[3] - q[0], g);
    }
    by_q[0] = by_q[0] - by_q[2] - by_q[3];
  }
  by_q[1] = by_a;
  by_q[0] = by_q[0] - by_a;
}

/// Spring with the energy E = ½ k |x₀ - p(ξ)|² between a vertex with the position x₀ and an anchor: the point with the
/// position p(ξ) in a cell whose nodes have the positions x₁, x₂, … (see `anchor_place`). The parameters of the spring
/// are the stiffness k (N/m) and the coordinates ξ of the anchor in the cell.
struct AttachmentSpring {
  static constexpr int num_nodes = 5, num_values = 4;
  static constexpr bool takes_packs = true;

  AnchorKind kind = AnchorKind::vertex;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const T& k = at.p[0];
    const T* const xi = at.p + 1;
    const Vec3<T> r = at.x[0] - anchor_place(kind, at.x + 1, xi);
    return 0.5 * k * dot(r, r);
  }
  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T& k = at.p[0];
    const T* const xi = at.p + 1;
    const Vec3<T> r = at.x[0] - anchor_place(kind, at.x + 1, xi);
    by.x[0] = k * r;
    by.p[0] = 0.5 * dot(r, r);
    pull_back_anchor(kind, at.x + 1, xi, -k * r, by.x + 1, by.p + 1);
  }
};

}  // namespace diffsim
