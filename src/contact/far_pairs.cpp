// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Removal of candidate pairs that stay too far apart to touch.

#include <cmath>

#include "contact/box_tree_impl.hpp"
#include "contact/pair_access.hpp"

namespace diffsim::contact {
namespace {

/// Returns the longest displacement (m) of the vertices begin..end-1 among the four vertices of a pair.
KOKKOS_INLINE_FUNCTION double longest_way(const Vec3<double>* from, const Vec3<double>* to, int begin, int end) {
  double most = 0.0;
  for (int k = begin; k < end; ++k) {
    const Vec3<double> way = to[k] - from[k];
    const double squared = dot(way, way);
    most = squared > most ? squared : most;
  }
  return std::sqrt(most);
}

/// Marks pairs that may come nearer than `range` (m). A primitive is the convex hull of its vertices. Therefore the
/// distance of two primitives changes by at most a + b, where a and b are the longest displacements of the vertices of
/// the two primitives. The displacement of a vertex is at most |to - from| + √3 slack.
void mark_near(const PairView& pairs, const Vectors& from, const Vectors& to, double range, double slack,
               const DeviceArray<std::int64_t>& of_points, const DeviceArray<std::int64_t>& of_edges) {
  const double reach = (range + 2.0 * std::sqrt(3.0) * slack) * (1.0 + 1e-12);
  const int count = static_cast<int>(pairs.point_triangle.size());
  Kokkos::parallel_for(
      "diffsim::contact::mark_near", over(static_cast<std::size_t>(pairs.size())), KOKKOS_LAMBDA(int p) {
        Vec3<double> a[4], b[4];
        load(pairs, p, from, a);
        load(pairs, p, to, b);
        const bool is_point = p < count;
        const int first = is_point ? 1 : 2;
        const double most = reach + longest_way(a, b, 0, first) + longest_way(a, b, first, 4);
        // A pair with NaN coordinates is marked, too.
        const std::int64_t near = squared_distance_of(pairs, p, a) > most * most ? 0 : 1;
        if (is_point)
          of_points(p) = near;
        else
          of_edges(p - count) = near;
      });
}

/// Returns the marked pairs, in their order. Replaces `marks`, which has one more entry than `pairs`, by its exclusive
/// sums.
DeviceArray<CandidatePair> marked(const DeviceArray<CandidatePair>& pairs, const DeviceArray<std::int64_t>& marks) {
  const std::int64_t total = detail::exclusive_sums(marks);
  const auto kept = make_device_array<CandidatePair>("diffsim::contact::pairs", static_cast<std::size_t>(total));
  Kokkos::parallel_for(
      "diffsim::contact::keep_near", over(pairs.size()), KOKKOS_LAMBDA(int i) {
        if (marks(i + 1) > marks(i)) kept(marks(i)) = pairs(i);
      });
  Kokkos::fence();
  return kept;
}

}  // namespace

void drop_far_pairs(PairView& pairs, const Vectors& from, const Vectors& to, double range, double slack) {
  if (pairs.size() == 0) return;
  const DeviceArray<std::int64_t> of_points("diffsim::contact::marks", pairs.point_triangle.size() + 1),
      of_edges("diffsim::contact::marks", pairs.edge_edge.size() + 1);
  mark_near(pairs, from, to, range, slack, of_points, of_edges);
  pairs.point_triangle = marked(pairs.point_triangle, of_points);
  pairs.edge_edge = marked(pairs.edge_edge, of_edges);
}

}  // namespace diffsim::contact
