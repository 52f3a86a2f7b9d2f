// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/contact/distance.hpp"
#include "diffsim/contact/separation.hpp"

/// Continuous collision detection of pairs whose points move along straight lines, x(t) = (1 - t) from + t to, t ∈ [0,
/// 1].
///
/// Method: conservative advancement (Mirtich 1996; Li et al. 2021, Codimensional IPC, use the distance's Lipschitz
/// bound) with separating planes. At a time t take any direction n, best that between the closest points. For each
/// point i of the first primitive and j of the second, s_ij(t) = n·(x_i(t) - x_j(t)) is *linear* in t, and min_ij
/// s_ij(t)/|n| is a lower bound of the distance, since primitives are convex hulls of their points. So as long as every
/// s_ij is at least m|n| the distance is at least m; the first time at which one of them falls to that is the next t.
/// Things that a thickness ξ keeps apart collide at the distance ξ (Li et al. 2021, section 6): m is then ξ plus a part
/// of the gap, which is the distance less ξ.
///
/// No false negatives. Every s_ij and its rate are lowered by a bound of their rounding errors: with u = 2⁻⁵³, w and v
/// the differences x_i - x_j at t = 0 and 1 (each within u of itself), w + t(v - w) is computed within 6u(|w| + |v|)
/// and its product with n within 12u Σ_k|n_k|(|w_k| + |v_k|) + O(u²); 16u of that sum is taken off, and 1e-300 for
/// underflow. Hence each interval advanced over is free of collision in exact arithmetic whatever n is: a wrong n, from
/// a degenerate pair, costs progress and never correctness. Contracted (fused) operations have smaller errors, so the
/// bound holds with them. The returned time leaves at least `keep`/2 of the first gap (its lower bound), which must
/// exceed the rounding of x + t (to - x) to coordinates, and of ξ, else the answer is 0: so the state a caller computes
/// at the returned time is free too. Coordinates that are not finite, or above 1e100 m, give 0.
namespace diffsim::contact {

namespace detail {

/// From the closest point of the primitive first..3 to that of 0..first-1.
template <int first>
DIFFSIM_FUNCTION Vec3<double> separation(const Vec3<double>* x) {
  const DistanceType type = first == 1 ? point_triangle_distance(x).type : edge_edge_distance(x).type;
  return scaled(type.p < first ? 1.0 : -1.0, closest(type, x).r);
}

/// True if the direction n between the centres of the primitives at the start shows that they keep `keep`/2 of their
/// gap all the way: every s_ij(t) is at least the lesser of s_ij(0) and s_ij(1), and the gap is at most |n| less the
/// thickness. Most pairs that do not near each other are found so, at a fraction of the closest points' cost. With c
/// the largest coordinate, n is within 16u c of a difference of points of the primitives; more is added to the gap.
template <int first>
DIFFSIM_FUNCTION bool stays_apart(const Vec3<double>* from, const Vec3<double>* to, double thickness, double keep,
                                  double coordinate) {
  constexpr double u = 0x1p-53;
  const Vec3<double> n = between_centres<first>(from);
  const double length = std::sqrt(dot(n, n)) * (1.0 + 8.0 * u);
  const double margin = 0.5 * keep * (length + 64.0 * u * coordinate - thickness);
  if (!(margin > 16.0 * u * (coordinate + 2.0 * thickness))) return false;
  const double enough = (margin + thickness) * length + difference_error(n, coordinate);
  return lowest_difference<first>(n, from) > enough && lowest_difference<first>(n, to) > enough;
}

/// The points of a pair: 0..first-1 against first..3.
template <int first>
DIFFSIM_FUNCTION double safe_step(const Vec3<double>* from, const Vec3<double>* to, double thickness, double keep) {
  constexpr double u = 0x1p-53, tiny = 1e-300;
  constexpr int max_advances = 256;
  const double first_coordinate = largest_coordinate(from), last_coordinate = largest_coordinate(to);
  if (!(first_coordinate < 1e100 && last_coordinate < 1e100)) return 0.0;
  const double coordinate = larger(first_coordinate, last_coordinate);
  if (stays_apart<first>(from, to, thickness, keep, coordinate)) return 1.0;

  double time = 0.0, margin = 0.0;
  for (int advance = 0; advance < max_advances; ++advance) {
    Vec3<double> x[4];
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c)
        x[k][c] = (from[k][c] - from[3][c]) + time * ((to[k][c] - to[3][c]) - (from[k][c] - from[3][c]));
    const Vec3<double> n = separation<first>(x);
    const double squared = dot(n, n);
    if (!(squared > 1e-280)) return time;
    const double length = std::sqrt(squared) * (1.0 + 8.0 * u);

    // Lower bounds of s_ij now, and of their rates.
    double now[4], rate[4], lowest = 0.0;
    int pairs = 0;
    for (int i = 0; i < first; ++i)
      for (int j = first; j < 4; ++j) {
        double s = 0.0, ds = 0.0, size = 0.0;
        for (int c = 0; c < 3; ++c) {
          const double w = from[i][c] - from[j][c], v = to[i][c] - to[j][c];
          s += n[c] * (w + time * (v - w));
          ds += n[c] * (v - w);
          size += std::fabs(n[c]) * (std::fabs(w) + std::fabs(v));
        }
        now[pairs] = s - (16.0 * u * size + tiny);
        rate[pairs] = ds - (16.0 * u * size + tiny);
        lowest = pairs == 0 ? now[0] : smaller(lowest, now[pairs]);
        ++pairs;
      }
    if (advance == 0) {
      margin = 0.5 * keep * (lowest - thickness * length) / length;
      if (!(margin > 16.0 * u * (coordinate + 2.0 * thickness))) return 0.0;
    } else if (lowest <= (2.0 * margin + thickness) * length) {
      return time;
    }
    double next = 1.0;
    for (int pair = 0; pair < pairs; ++pair) {
      if (rate[pair] >= 0.0) continue;
      const double reach = (now[pair] - (margin + thickness) * length) / -rate[pair] * (1.0 - 8.0 * u);
      next = smaller(next, (time + reach) * (1.0 - 4.0 * u));
    }
    if (next >= 1.0) return 1.0;
    if (!(next > time)) return time;
    time = next;
  }
  return time;
}

}  // namespace detail

/// A t ∈ [0, 1] up to which point 0 and triangle 1 2 3 stay farther apart than `thickness`, m, and keep at least
/// `keep`/2 of what their distance is more than that; 1 if they never come nearer. 0 means that they touch at the
/// start, or nearly (see above). At most 256 advances: fewer give a smaller t, still safe.
DIFFSIM_FUNCTION double point_triangle_step(const Vec3<double>* from, const Vec3<double>* to, double thickness = 0.0,
                                            double keep = 0.2) {
  return detail::safe_step<1>(from, to, thickness, keep);
}
/// The same for edges 0 1 and 2 3.
DIFFSIM_FUNCTION double edge_edge_step(const Vec3<double>* from, const Vec3<double>* to, double thickness = 0.0,
                                       double keep = 0.2) {
  return detail::safe_step<2>(from, to, thickness, keep);
}

}  // namespace diffsim::contact
