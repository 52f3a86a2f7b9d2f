// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/macros.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact {

/// Motion of a vertex relative to a plane at the end of a substep: gap g < 0, velocity u, acceleration a, and the unit
/// normal n of the plane.
template <class T>
struct VertexAtPlane {
  T g;
  Vec3<T> u, a, n;
};

/// Impact of a vertex that moves with a constant acceleration (make_plane_impact), without friction.
template <class T>
struct VertexImpact {
  bool rests;    ///< true if the vertex stays on the plane
  T speed;       ///< w: minus the normal velocity at the time of the impact
  T since;       ///< s: time since the impact, or min(g/(u·n), h) for a vertex that stays on the plane
  T push;        ///< change of the normal velocity
  Vec3<T> slip;  ///< u_t: sliding velocity at the time of the impact, or at the end for a vertex that stays
};

/// Returns the impact of a vertex that approaches the plane, u·n < 0. `e`: coefficient of restitution. `h`: length of
/// the substep.
template <class T>
DIFFSIM_FUNCTION VertexImpact<T> vertex_impact(const VertexAtPlane<T>& at, const T& e, double h) {
  using std::sqrt;
  const T rate = dot(at.n, at.u), pull = dot(at.n, at.a);
  const T square = rate * rate - 2.0 * pull * at.g;  // w²
  VertexImpact<T> impact;
  impact.speed = value_of(square) > 0.0 ? T(sqrt(square)) : T(0.0);
  impact.since = -2.0 * at.g / (impact.speed - rate);
  if (value_of(impact.since) > h) impact.since = T(h);
  impact.rests = value_of(e) * value_of(impact.speed) + value_of(pull) * value_of(impact.since) < 0.0;
  if (impact.rests) impact.since = value_of(at.g) > value_of(rate) * h ? T(at.g / rate) : T(h);
  impact.push = impact.rests ? T(-rate) : T((1.0 + e) * impact.speed);
  for (int c = 0; c < 3; ++c) impact.slip[c] = at.u[c] - rate * at.n[c];
  if (!impact.rests)
    for (int c = 0; c < 3; ++c) impact.slip[c] = impact.slip[c] - impact.since * (at.a[c] - pull * at.n[c]);
  return impact;
}

}  // namespace diffsim::contact
