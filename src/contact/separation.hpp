// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/small_tensor.hpp"

/// Lower bounds of the distances of point–triangle pairs and edge–edge pairs (contact/distance.hpp). A lower bound of
/// the distance is computed from one direction n, at a fraction of the cost of finding the closest points. Primitives
/// (points, edges and triangles) are convex hulls of their points, so for any vector n the distance of two primitives
/// is at least min_ij n·(x_i - x_j)/|n|, with points i of the first primitive and points j of the second primitive. The
/// first primitive of a pair has the points 0 to `first` - 1, the second primitive has the points `first` to 3. The
/// bounds of rounding errors use u = 2⁻⁵³, the unit roundoff of double precision.
namespace diffsim::contact {

namespace detail {

DIFFSIM_FUNCTION double larger(double a, double b) { return b > a ? b : a; }
DIFFSIM_FUNCTION double smaller(double a, double b) { return b < a ? b : a; }

/// Largest absolute coordinate of the points of a pair; NaN if a coordinate is not finite.
DIFFSIM_FUNCTION double largest_coordinate(const Vec3<double>* x) {
  double largest = 0.0, sum = 0.0;
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      largest = larger(largest, std::fabs(x[k][c]));
      sum += x[k][c];
    }
  return largest + 0.0 * sum;
}

/// Vector from the centroid of the points `first` to 3 to the centroid of the points 0 to `first` - 1.
template <int first>
DIFFSIM_FUNCTION Vec3<double> between_centres(const Vec3<double>* x) {
  Vec3<double> n;
  for (int c = 0; c < 3; ++c)
    n[c] = first == 1 ? x[0][c] - (x[1][c] + x[2][c] + x[3][c]) * (1.0 / 3.0)
                      : 0.5 * ((x[0][c] + x[1][c]) - (x[2][c] + x[3][c]));
  return n;
}

/// Smallest difference min_ij n·(x_i - x_j) of projections onto the vector n, over the points i = 0, …, `first` - 1 and
/// the points j = `first`, …, 3.
template <int first>
DIFFSIM_FUNCTION double lowest_difference(const Vec3<double>& n, const Vec3<double>* x) {
  double least = dot(n, x[0] - x[3]), most = 0.0;
  for (int k = 1; k < 3; ++k) {
    const double height = dot(n, x[k] - x[3]);
    if (k < first)
      least = smaller(least, height);
    else
      most = larger(most, height);
  }
  return least - most;
}

/// Bound 64u c Σ_k|n_k| + 1e-300 of the rounding error of `lowest_difference`, where u = 2⁻⁵³ is the unit roundoff, n_k
/// are the components of n, and c = `coordinate` is the largest absolute coordinate of the points. Without underflow,
/// the rounding error is at most 24u c Σ_k|n_k|.
DIFFSIM_FUNCTION double difference_error(const Vec3<double>& n, double coordinate) {
  return 0x1p-47 * coordinate * (std::fabs(n[0]) + std::fabs(n[1]) + std::fabs(n[2])) + 1e-300;
}

}  // namespace detail

/// Returns true if projections onto the direction between the centroids of two primitives prove that the primitives are
/// more than `distance` (m) apart. The first primitive has the points 0 to `first` - 1, the second primitive has the
/// points `first` to 3. If `is_farther` returns false, the primitives may still be more than `distance` apart.
template <int first>
DIFFSIM_FUNCTION bool is_farther(const Vec3<double>* x, double distance) {
  const Vec3<double> n = detail::between_centres<first>(x);
  const double length = std::sqrt(dot(n, n)) * (1.0 + 0x1p-50);
  return detail::lowest_difference<first>(n, x) >
         distance * length + detail::difference_error(n, detail::largest_coordinate(x));
}

}  // namespace diffsim::contact
