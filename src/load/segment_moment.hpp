// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Force law of a moment p (N m) on a segment with the ends 0 and 1 and a director. The director of a segment is a
/// vector that rotates with the segment's cross-section, and is stored like the position of a third node
/// (mesh/directors.hpp). The moment p is constant in space: p does not rotate with the segment.
///
/// Let t be the unit vector from end 0 to end 1, l the length of the segment, and d the component of the director
/// perpendicular to t. The moment p exerts the forces f₁ = p×t/l = -f₀ on the ends and (p·t) t×d/|d|² on the director.
///
/// The power of the force on the director is the scalar product of this force and the director's rate of change. A
/// moment that is constant in space has no potential.
struct SegmentMoment {
  static constexpr int num_nodes = 3, num_values = 3;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    using std::sqrt;
    Vec3<T> t = at.x[1] - at.x[0], d = at.x[2];
    const T l = sqrt(dot(t, t));
    for (int c = 0; c < 3; ++c) t[c] /= l;
    const T part = dot(t, d);
    for (int c = 0; c < 3; ++c) d[c] -= part * t[c];
    const Vec3<T> moment = at.vector(0), across = cross(moment, t), turn = cross(t, d);
    const T factor = dot(moment, t) / dot(d, d);
    for (int c = 0; c < 3; ++c) {
      f[1][c] = across[c] / l;
      f[0][c] = -f[1][c];
      f[2][c] = factor * turn[c];
    }
  }
};

/// Creates the force term of a moment that acts on each of several segments. The parameter with the name `parameter` is
/// the moment [steps, 3] (N m). `vertices` [segments, 3]: the two ends and the director of each segment, as local
/// vertex numbers.
std::unique_ptr<ForceTerm> make_segment_moment(const std::string& parameter, std::vector<int> vertices);

}  // namespace diffsim
