// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/distance.hpp"
#include "contact/separation.hpp"

/// Continuous collision detection of point–triangle pairs and edge–edge pairs whose points move along straight lines,
/// x(t) = (1 - t) `from` + t `to`, with t ∈ [0, 1].
///
/// The method is conservative advancement (Mirtich 1996) with separating planes. Li et al. 2021 (Codimensional IPC) use
/// the Lipschitz bound of the distance instead of separating planes. At a time t, the separating planes may have any
/// normal n; the code uses the vector between the closest points of the pair's two primitives. For each point i of the
/// first primitive (the point, or the first edge) and each point j of the second primitive (the triangle, or the second
/// edge), the projection s_ij(t) = n·(x_i(t) - x_j(t)) onto a fixed vector n is *linear* in t. Primitives are convex
/// hulls of their points, so the distance of two primitives is at least m as long as s_ij(t) ≥ m|n| for all i and j.
/// Each iteration advances t to the first time at which a projection s_ij(t) decreases to m|n|. Two surfaces with the
/// thickness ξ collide at the distance ξ (Li et al. 2021, section 6); therefore the distance m to be kept is ξ plus the
/// fraction `keep`/2 of the initial gap, where the gap is the distance minus ξ.
///
/// No collision is missed, because the code subtracts a bound of the rounding error from each projection s_ij(t) =
/// n·(x_i(t) - x_j(t)) and from each rate ds_ij/dt. Let u = 2⁻⁵³, and let w and v be the differences x_i - x_j of two
/// points at t = 0 and at t = 1, each with a relative error of at most u; then
///   the error of w + t(v - w) is at most 6u(|w| + |v|),
///   the error of n·(w + t(v - w)) is at most 12u Σ_k|n_k|(|w_k| + |v_k|) + O(u²),
///   and the code subtracts 16u Σ_k|n_k|(|w_k| + |v_k|) for rounding, and 1e-300 for underflow.
/// Hence, for any normal n, the exact motion has no collision in the time intervals over which the iterations advance.
/// An inaccurate normal n, computed from a degenerate pair, shortens these time intervals but never hides a collision.
/// Fused multiply-add operations have smaller rounding errors, so the bounds hold for code with these operations, too.
///
/// At the time t ∈ [0, 1] that `safe_step` computes, the gap of the pair is at least `keep`/2 times a lower bound of
/// the initial gap. If `keep`/2 times the lower bound of the initial gap does not exceed the rounding errors of the
/// coordinates `from` + t (`to` - `from`) and of the thickness ξ, `safe_step` returns t = 0. Positions that a caller
/// computes for the time t from `safe_step` are free of collisions despite rounding. `safe_step` returns t = 0 if a
/// coordinate is not finite or is 1e100 m or larger in absolute value.
namespace diffsim::contact {

namespace detail {

/// Vector between the closest points of two primitives: from the closest point of the primitive with the points `first`
/// to 3 to the closest point of the primitive with the points 0 to `first` - 1.
template <int first>
DIFFSIM_FUNCTION Vec3<double> separation(const Vec3<double>* x) {
  const DistanceType type = first == 1 ? point_triangle_distance(x).type : edge_edge_distance(x).type;
  return scaled(type.p < first ? 1.0 : -1.0, closest(type, x).r);
}

/// Returns true if projections onto the vector n between the initial centroids of two primitives prove that at least
/// the fraction `keep`/2 of the initial gap remains during the whole motion. The gap of a pair is the distance of its
/// primitives minus the contact thickness. For each point i of the first primitive and each point j of the second
/// primitive, the projection n·(x_i(t) - x_j(t)) is linear in t, so the minimum of the projection is at t = 0 or t = 1.
/// The vector n connects a point of each primitive, so the initial gap is at most |n| minus the contact thickness. Let
/// c = `coordinate` be the largest absolute coordinate of the points, and u = 2⁻⁵³. Because of rounding, the computed
/// vector n differs by at most 16u c from a difference of two points of the primitives, so the upper bound of the
/// initial gap is enlarged by 64u c. `stays_apart` returns true for most pairs whose primitives do not approach each
/// other, at a fraction of the cost of finding the closest points.
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

/// Safe fraction t (see `point_triangle_step`) of the motion of a pair, which consists of the convex hull of the points
/// 0 to `first` - 1 and the convex hull of the points `first` to 3.
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

    // Lower bounds of s_ij at `time`, and of the rates ds_ij/dt.
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

/// Safe (collision-free) fraction t ∈ [0, 1] of the straight motion of four points from the positions `from` to the
/// positions `to`. Over the safe fraction of the motion, point 0 and the triangle with the points 1, 2 and 3 stay
/// farther apart than `thickness` (m) and keep at least `keep`/2 of their initial gap. The gap of the point and the
/// triangle is their distance minus `thickness`. Returns the fraction 1 if the gap of the point and the triangle stays
/// larger than `keep` times the initial gap during the whole motion, and 0 if the initial gap is zero or so small that
/// rounding errors could hide a collision. If 256 iterations of the collision detection do not suffice, the returned
/// fraction of the motion is smaller than necessary, but still safe.
DIFFSIM_FUNCTION double point_triangle_step(const Vec3<double>* from, const Vec3<double>* to, double thickness = 0.0,
                                            double keep = 0.2) {
  return detail::safe_step<1>(from, to, thickness, keep);
}
/// Returns the safe fraction t ∈ [0, 1] of the motion, defined as in `point_triangle_step`, for the edge with the
/// points 0 and 1 and the edge with the points 2 and 3.
DIFFSIM_FUNCTION double edge_edge_step(const Vec3<double>* from, const Vec3<double>* to, double thickness = 0.0,
                                       double keep = 0.2) {
  return detail::safe_step<2>(from, to, thickness, keep);
}

}  // namespace diffsim::contact
