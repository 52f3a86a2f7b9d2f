// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/distance.hpp"
#include "contact/separation.hpp"

/// Continuous collision detection of point–triangle pairs and edge–edge pairs whose points move along straight lines,
/// x(t) = (1 - t) `from` + t `to`, with t ∈ [0, 1].
///
/// Method: conservative advancement (Mirtich 1996) with separating planes. Li et al. 2021 (Codimensional IPC) use the
/// Lipschitz bound of the distance instead of planes. At a time t, any direction n may be used; the code uses the
/// direction between the closest points. For each point i of the first primitive (the point, or the first edge) and
/// each point j of the second primitive (the triangle, or the second edge), s_ij(t) = n·(x_i(t) - x_j(t)) is *linear*
/// in t. Primitives are convex hulls of their points, so min_ij s_ij(t)/|n| is a lower bound of the distance. As long
/// as every s_ij is at least m|n|, for some distance m, the distance is at least m. The next t is the first time at
/// which one of the s_ij falls to m|n|. Two surfaces with the thickness ξ collide at the distance ξ (Li et al. 2021,
/// section 6). Therefore m is ξ plus the fraction `keep`/2 of the initial gap, where the gap is the distance minus ξ.
///
/// No collision is missed. Every s_ij and its rate are reduced by a bound of their rounding errors. Let u = 2⁻⁵³, and
/// let w and v be the differences x_i - x_j at t = 0 and t = 1, each with a relative error of at most u. Then w + t(v -
/// w) is computed with an error of at most 6u(|w| + |v|), and the product n·(w + t(v - w)) is computed with an error of
/// at most 12u Σ_k|n_k|(|w_k| + |v_k|) + O(u²). The code subtracts 16u Σ_k|n_k|(|w_k| + |v_k|) for rounding, and 1e-300
/// for underflow. Hence, for any n, the exact motion has no collision in the time intervals that the method has
/// advanced over. An inaccurate n, computed from a degenerate pair, makes the advances shorter but never hides a
/// collision. Fused multiply-add operations have smaller rounding errors, so the bound holds for them too.
///
/// At the returned time, the gap is at least `keep`/2 times a lower bound of the initial gap. If `keep`/2 times this
/// lower bound does not exceed the rounding errors of the coordinates `from` + t (`to` - `from`) and of ξ, the returned
/// time is 0. Therefore the positions that a caller computes for the returned time are free of collisions despite
/// rounding. The returned time is also 0 if a coordinate is not finite or is 1e100 m or larger.
namespace diffsim::contact {

namespace detail {

/// Vector from the closest point of the primitive with the points first..3 to the closest point of the primitive with
/// the points 0..first-1.
template <int first>
DIFFSIM_FUNCTION Vec3<double> separation(const Vec3<double>* x) {
  const DistanceType type = first == 1 ? point_triangle_distance(x).type : edge_edge_distance(x).type;
  return scaled(type.p < first ? 1.0 : -1.0, closest(type, x).r);
}

/// Returns true if projections onto the vector n between the initial centroids of the two primitives prove that at
/// least the fraction `keep`/2 of the initial gap remains during the whole motion. The gap is the distance minus the
/// thickness. Every s_ij(t) = n·(x_i(t) - x_j(t)) is at least the smaller of s_ij(0) and s_ij(1), and the initial gap
/// is at most |n| minus the thickness. The test accepts most pairs that do not approach each other, at a fraction of
/// the cost of finding the closest points. Let c = `coordinate` be the largest absolute coordinate of the points, and u
/// = 2⁻⁵³. Because of rounding, n differs by at most 16u c from a difference of two points of the primitives. The upper
/// bound of the initial gap is therefore enlarged by 64u c.
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
/// 0..first-1 and the convex hull of the points first..3.
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

/// Safe fraction t ∈ [0, 1] of the straight motion of four points from `from` to `to`. Over this fraction of the
/// motion, point 0 and the triangle with the points 1, 2 and 3 stay farther apart than `thickness` (m) and keep at
/// least `keep`/2 of their initial gap. The gap is the distance minus `thickness`. Returns 1 if the gap stays larger
/// than `keep` times the initial gap during the whole motion, and 0 if the initial gap is zero or so small that
/// rounding errors could hide a collision. The method stops after 256 iterations; t may then be smaller than necessary,
/// but is still safe.
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
