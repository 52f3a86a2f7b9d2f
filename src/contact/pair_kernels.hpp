// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "candidates.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim::contact {

/// κ, d̂, µ, ε_v and the thicknesses of the two of a pair as device addresses; nullptr: zero.
struct LawAddresses {
  const double* of[4];
  const double* thick[2];

  KOKKOS_INLINE_FUNCTION double at(int k) const { return of[k] ? *of[k] : 0.0; }
  /// ξ, half of both.
  KOKKOS_INLINE_FUNCTION double thickness() const {
    return 0.5 * ((thick[0] ? *thick[0] : 0.0) + (thick[1] ? *thick[1] : 0.0));
  }
  KOKKOS_INLINE_FUNCTION ContactLaw<double> law() const { return {at(0), at(1), at(2), at(3), thickness()}; }
  bool is_thick() const { return thick[0] || thick[1]; }
};

/// The laws of a rank's pairs.
struct PairLaws {
  std::vector<LawAddresses> laws;
  DeviceArray<int> of_groups;  // [groups, groups]: the law of two groups; not read where there is one law
  int groups = 1;

  /// Whether some law has a thickness, be it zero.
  bool are_thick() const {
    return std::any_of(laws.begin(), laws.end(), [](const LawAddresses& law) { return law.is_thick(); });
  }
};

/// The part of a list of pairs that has one law.
struct LawPart {
  LawAddresses law;
  int begin, end;
  Range range() const { return Range(begin, end); }
};

/// Pairs that are near, those of one law after the other, within a law in the order of the candidates.
struct NearPairs {
  DeviceArray<int> pairs;
  std::vector<LawPart> parts;  // one a law, in the order of PairLaws
  std::size_t size() const { return pairs.size(); }
};

/// Sums over pairs of one law of the adjoints of κ, d̂, µ, ε_v, ξ.
struct LawSums {
  double of[5] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const LawSums& other) {
    for (int k = 0; k < 5; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile LawSums& other) volatile {
    for (int k = 0; k < 5; ++k) of[k] = of[k] + other.of[k];
  }
};

/// A direction of the rest shape, empty for none: of the points' areas [owned vertices], and of positions on the pairs'
/// vertices, with these.
struct RestTangent {
  DeviceArray<double> areas;
  Vectors positions, direction;
};

/// Adjoints of the rest shape for each point of each active pair, [active, 4, 3], empty for none: of the areas, in the
/// first component, and of the positions.
struct RestAdjoint {
  Vectors areas, positions;
};

/// The pairs nearer than their thickness ξ and `factor` times the d̂ of their law.
NearPairs pairs_within(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, ArrayPool& pool);
/// The pairs nearer than ξ + d̂.
inline NearPairs active_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, ArrayPool& pool) {
  return pairs_within(pairs, x, laws, 1.0, pool);
}
/// The vertex of each of the four points of each active pair.
DeviceArray<int> targets_of(const PairView& pairs, const DeviceArray<int>& active, ArrayPool& pool);
/// Whether two arrays of one size have equal values, none of them NaN.
bool have_same_values(const Vectors& a, const Vectors& b);

double sum_energies(const PairView& pairs, const NearPairs& active, const Vectors& x);

/// D of friction, W.
double sum_dissipations(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);
/// Power that friction takes, W: its force is the difference that velocities make.
double friction_power(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);

// Values for each point of each active pair, [active, 4, 3]. `v` and what goes with it is empty without friction.
void pair_forces(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                 const Vectors& forces);
/// Tangents along dx, dv and a direction of each law.
void pair_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                   const Vectors& dx, const Vectors& dv, const std::vector<LawAddresses>& dlaws,
                   const RestTangent& rest, const Vectors& tangents);
/// x̄ and v̄ of w·f, and the sums of each law.
std::vector<LawSums> pair_adjoints(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                                   const Vectors& w, const Vectors& rest, const Vectors& x_bar, const Vectors& v_bar,
                                   const RestAdjoint& rest_bar);

/// Parts of the tangents and of the laws' sums that come by the thickness ξ, where a law has one.
void add_thickness_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                            const std::vector<LawAddresses>& dlaws, const Vectors& tangents);
void add_thickness_sums(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                        const Vectors& w, std::vector<LawSums>& sums);

/// Places x and velocities v (empty without friction) of the pairs' vertices.
struct PairPlace {
  Vectors x, v;
};
/// A direction of that, and of what forces are weighed with; dv, w, dw may be empty: zero.
struct PairDirection {
  Vectors dx, dv;
  Vectors w, dw;
};
/// x̄ and v̄ of w·f and their derivatives along a direction, [active, 4, 3]; v̄'s are empty without friction.
struct PairAdjointTangent {
  Vectors x_bar, dx_bar, v_bar, dv_bar;
};
/// The derivatives of `pair_adjoints` along a direction of places and laws, but for the rest shape's; sums are those of
/// each law.
std::vector<LawSums> pair_adjoint_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                           const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                           const PairAdjointTangent& out);
/// Adds to these sums those of the thickness, where a law has one.
void add_thickness_sum_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                std::vector<LawSums>& sums);

/// The blocks a ∂f_k/∂x_l + b ∂f_k/∂v_l of each active pair, [active, 4, 4, 3, 3]; those of vertices from `movable` on
/// are not meant. `weights.project`: without friction's derivative by positions, which is not symmetric, and made
/// semidefinite.
void pair_jacobians(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                    const JacobianWeights& weights, int movable, const Vectors& blocks);
/// Where they go in a matrix: its block, or its number of blocks for a pair of vertices that is not there.
DeviceArray<int> block_targets(const DeviceArray<int>& targets, int movable, const BlockMatrix& matrix,
                               ArrayPool& pool);

/// Removes pairs that are farther apart than `range` wherever their vertices are in the boxes that they sweep from one
/// place to another, widened by `slack`. Boxes around edges and triangles overlap long before these are near.
void drop_far_pairs(PairView& pairs, const Vectors& from, const Vectors& to, double range, double slack);

/// The least safe step of all pairs (contact/ccd.hpp) and, if below 1, a pair that it is of, else -1.
struct SafeStep {
  double step;
  int pair;
};
SafeStep safe_step(const PairView& pairs, const Vectors& from, const Vectors& to, const PairLaws& laws);
/// The least distance of all pairs less the thickness of each, m; infinite if there are none.
double least_gap(const PairView& pairs, const Vectors& x, const PairLaws& laws);
/// "(0.1, 0, 2)"
std::string text_of(const std::array<double, 3>& place);
/// Text of the place in the middle of two vertices.
std::string middle_of(const Vectors& x, int a, int b);
/// The distance of one pair, m.
double distance_of(const PairView& pairs, int pair, const Vectors& x);
/// Those edges and triangles that have a point in common.
DeviceArray<CandidatePair> find_intersections(const PairView& pairs,
                                              const DeviceArray<CandidatePair>& edges_and_triangles, const Vectors& x);

}  // namespace diffsim::contact
