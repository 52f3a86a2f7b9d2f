// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Distances of pairs, and step lengths that avoid collisions of pairs.

#include <cmath>
#include <limits>

#include "contact/ccd.hpp"
#include "contact/pair_access.hpp"
#include "contact/pair_laws.hpp"

namespace diffsim::contact {
namespace {

using SafePart = Kokkos::MinLoc<double, int>;

/// Returns the least safe fraction min_p t_p of the displacements of pairs from `from` to `to` (contact/ccd.hpp), and
/// the first pair with this fraction. The fraction is 1 if all displacements are safe.
template <class Laws>
SafePart::value_type least_safe_part(const PairView& pairs, const Vectors& from, const Vectors& to, const Laws& laws) {
  SafePart::value_type least;
  least.val = 1.0;
  least.loc = -1;
  Kokkos::parallel_reduce(
      "diffsim::contact::safe_step", over(static_cast<std::size_t>(pairs.size())),
      KOKKOS_LAMBDA(int p, SafePart::value_type& best) {
        Vec3<double> a[4], b[4];
        load(pairs, p, from, a);
        load(pairs, p, to, b);
        const double kept = laws.of(pairs, p).kept_distance();
        const double step = pairs.is_point_triangle(p) ? point_triangle_step(a, b, kept) : edge_edge_step(a, b, kept);
        if (step < best.val || (step == best.val && p < best.loc)) {
          best.val = step;
          best.loc = p;
        }
      },
      SafePart(least));
  return least;
}

/// Returns the least gap min_p (d_p - ξ_p) of the pairs, with the distances d_p and the thicknesses ξ_p (m).
template <class Laws>
double least_gap_by(const PairView& pairs, const Vectors& x, const Laws& laws) {
  double least = std::numeric_limits<double>::infinity();
  Kokkos::parallel_reduce(
      "diffsim::contact::least_gap", over(static_cast<std::size_t>(pairs.size())),
      KOKKOS_LAMBDA(int p, double& best) {
        Vec3<double> points[4];
        load(pairs, p, x, points);
        const double gap = std::sqrt(squared_distance_of(pairs, p, points)) - laws.of(pairs, p).thickness();
        best = gap < best ? gap : best;
      },
      Kokkos::Min<double>(least));
  return least;
}

}  // namespace

SafeStep safe_step(const PairView& pairs, const Vectors& from, const Vectors& to, const PairLaws& laws) {
  if (pairs.size() == 0) return {1.0, -1};
  const SafePart::value_type least = laws.laws.size() > 1 && laws.are_thick()
                                         ? least_safe_part(pairs, from, to, LawsOfGroups(laws))
                                         : least_safe_part(pairs, from, to, OneLaw{laws.laws[0]});
  if (!(least.val < 1.0)) return {1.0, -1};
  return {least.val, least.loc};
}

double least_gap(const PairView& pairs, const Vectors& x, const PairLaws& laws) {
  if (pairs.size() == 0) return std::numeric_limits<double>::infinity();
  return laws.laws.size() > 1 && laws.are_thick() ? least_gap_by(pairs, x, LawsOfGroups(laws))
                                                  : least_gap_by(pairs, x, OneLaw{laws.laws[0]});
}

double distance_of(const PairView& pairs, int pair, const Vectors& x) {
  double squared = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::contact::distance", Range(pair, pair + 1),
      KOKKOS_LAMBDA(int p, double& sum) {
        Vec3<double> points[4];
        load(pairs, p, x, points);
        sum += squared_distance_of(pairs, p, points);
      },
      squared);
  return std::sqrt(squared);
}

}  // namespace diffsim::contact
