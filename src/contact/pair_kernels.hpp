// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "contact/candidates.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"

namespace diffsim::contact {

/// Device addresses of κ, d̂, µ, ε_v and of the thicknesses of the two sides of a pair; nullptr stands for zero.
struct LawAddresses {
  const double* of[4];
  const double* thick[2];

  KOKKOS_INLINE_FUNCTION double at(int k) const { return of[k] ? *of[k] : 0.0; }
  /// Thickness ξ, the mean of both thicknesses.
  KOKKOS_INLINE_FUNCTION double thickness() const {
    return 0.5 * ((thick[0] ? *thick[0] : 0.0) + (thick[1] ? *thick[1] : 0.0));
  }
  KOKKOS_INLINE_FUNCTION ContactLaw<double> law() const { return {at(0), at(1), at(2), at(3), thickness()}; }
  bool is_thick() const { return thick[0] || thick[1]; }
};

/// Contact laws of the pairs of a rank.
struct PairLaws {
  std::vector<LawAddresses> laws;
  DeviceArray<int> of_groups;  // [groups, groups]: index of the law; not read if there is only one law
  int groups = 1;

  /// Returns true if some law has a thickness parameter, even if the value of the parameter is zero.
  bool are_thick() const {
    return std::any_of(laws.begin(), laws.end(), [](const LawAddresses& law) { return law.is_thick(); });
  }
};

/// Contiguous part of a list of pairs, in which all pairs have the same contact law.
struct LawPart {
  LawAddresses law;
  int begin, end;
  Range range() const { return Range(begin, end); }
};

/// Active pairs, or other pairs that are near, sorted by law. The pairs of one law are in ascending order.
struct NearPairs {
  DeviceArray<int> pairs;      // indices of the pairs in PairView
  std::vector<LawPart> parts;  // one part for each law, in the order of PairLaws
  std::size_t size() const { return pairs.size(); }
};

/// Sums of the adjoints of κ, d̂, µ, ε_v and ξ over all pairs of one law.
struct LawSums {
  double of[5] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const LawSums& other) {
    for (int k = 0; k < 5; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile LawSums& other) volatile {
    for (int k = 0; k < 5; ++k) of[k] = of[k] + other.of[k];
  }
};

/// Direction of the rest shape, along which forces are differentiated; the arrays are empty if the rest shape is
/// constant. `areas` [owned vertices] is the direction of the points' measures, `positions` are the rest positions of
/// the pairs' vertices, and `direction` is the direction of these positions.
struct RestTangent {
  DeviceArray<double> areas;
  Vectors positions, direction;
};

/// Adjoints of the rest shape for each point of each active pair, [active, 4, 3]; empty if not requested. The adjoint
/// of a measure is a scalar, which `areas` stores in the first of the three components.
struct RestAdjoint {
  Vectors areas, positions;
};

/// Returns the pairs at a distance of less than ξ + `factor` d̂, with ξ and d̂ of the pair's law.
NearPairs pairs_within(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, ArrayPool& pool);
/// Returns the pairs at a distance of less than ξ + d̂, with ξ and d̂ of the pair's law.
inline NearPairs active_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, ArrayPool& pool) {
  return pairs_within(pairs, x, laws, 1.0, pool);
}
/// Vertex indices of the four points of each active pair, [active, 4], in the order of PairView.
DeviceArray<int> targets_of(const PairView& pairs, const DeviceArray<int>& active, ArrayPool& pool);
/// Returns true if two arrays of equal size have equal values, none of which is NaN.
bool have_same_values(const Vectors& a, const Vectors& b);

/// Sum of the energies E of the active pairs, in J.
double sum_energies(const PairView& pairs, const NearPairs& active, const Vectors& x);

/// Sum of the dissipation potentials D of friction over the active pairs, in W.
double sum_dissipations(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);
/// Power dissipated by friction in the active pairs, in W. The friction force is the difference between the forces with
/// and without velocities.
double friction_power(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);

// `pair_forces`, `pair_tangents` and `pair_adjoints` set vectors for each point of each active pair, [active, 4, 3].
// Without friction, the velocities `v` and the tangents and adjoints of velocities are empty arrays.
void pair_forces(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                 const Vectors& forces);
/// Sets the derivatives of the forces along a direction: `dx` of the positions, `dv` of the velocities, `dlaws` of the
/// values of the laws, and `rest` of the rest shape.
void pair_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                   const Vectors& dx, const Vectors& dv, const std::vector<LawAddresses>& dlaws,
                   const RestTangent& rest, const Vectors& tangents);
/// Sets the gradients x̄ and v̄ of w·f with respect to the positions and the velocities, where f are the forces and w the
/// adjoints of the forces. Unless the rest positions `rest` are empty, also sets the gradient with respect to the rest
/// shape. For each law, returns the sums of the adjoints of κ, d̂, µ, ε_v and ξ over the law's pairs.
std::vector<LawSums> pair_adjoints(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                                   const Vectors& w, const Vectors& rest, const Vectors& x_bar, const Vectors& v_bar,
                                   const RestAdjoint& rest_bar);

/// Adds ∂f/∂ξ dξ to the directional derivatives of the forces, for each law with a direction dξ of the thickness.
void add_thickness_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                            const std::vector<LawAddresses>& dlaws, const Vectors& tangents);
/// Sets the adjoint of the thickness ξ in the sums of each law with a thickness.
void add_thickness_sums(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                        const Vectors& w, std::vector<LawSums>& sums);

/// Positions x and velocities v of the pairs' vertices; v is empty without friction.
struct PairPlace {
  Vectors x, v;
};
/// Directions dx of the positions and dv of the velocities, the vectors w of the product w·f, and the direction dw of
/// w. dv, w and dw may be empty, which means zero.
struct PairDirection {
  Vectors dx, dv;
  Vectors w, dw;
};
/// Adjoints x̄ and v̄ of w·f, and the derivatives of these adjoints along a direction, [active, 4, 3]. The arrays of v̄
/// are empty without friction.
struct PairAdjointTangent {
  Vectors x_bar, dx_bar, v_bar, dv_bar;
};
/// Sets the adjoints that `pair_adjoints` computes, and their directional derivatives along a direction of positions,
/// velocities, w and laws, but not of the rest shape. Returns, for each law, the directional derivatives of the sums of
/// `pair_adjoints`.
std::vector<LawSums> pair_adjoint_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                           const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                           const PairAdjointTangent& out);
/// Sets the directional derivative of the adjoint of the thickness ξ in the sums of each law with a thickness.
void add_thickness_sum_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                std::vector<LawSums>& sums);

/// Sets the blocks a ∂f_k/∂x_l + b ∂f_k/∂v_l of each active pair, [active, 4, 4, 3, 3], with a and b of `weights`.
/// Vertices whose index is `movable` or higher belong to obstacles; callers must not use the blocks of these vertices.
/// With `weights.project`, the derivative of friction with respect to positions, which is not symmetric, is omitted,
/// and the matrix of each pair is projected to a positive semidefinite matrix.
void pair_jacobians(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                    const JacobianWeights& weights, int movable, const Vectors& blocks);
/// Index in `matrix` of each block of `pair_jacobians`. If `matrix` has no block for two vertices, the index is the
/// number of blocks of `matrix`.
DeviceArray<int> block_targets(const DeviceArray<int>& targets, int movable, const BlockMatrix& matrix,
                               ArrayPool& pool);

/// Removes pairs that cannot come nearer than `range` (m), although the boxes of their primitives overlap. Each vertex
/// may be anywhere in the box that contains its positions in `from` and `to`, enlarged by `slack` (m) on each side.
void drop_far_pairs(PairView& pairs, const Vectors& from, const Vectors& to, double range, double slack);

/// Smallest safe time, in [0, 1], of all pairs (contact/ccd.hpp), and a pair with this time. `pair` is -1 if the time
/// is 1.
struct SafeStep {
  double step;
  int pair;
};
SafeStep safe_step(const PairView& pairs, const Vectors& from, const Vectors& to, const PairLaws& laws);
/// Smallest gap (m) of all pairs; infinite if there are no pairs. The gap is the distance minus the thickness.
double least_gap(const PairView& pairs, const Vectors& x, const PairLaws& laws);
/// Text of a position, for example "(0.1, 0, 2)".
std::string text_of(const std::array<double, 3>& place);
/// Text of the midpoint of the vertices a and b.
std::string middle_of(const Vectors& x, int a, int b);
/// Distance of one pair, in m.
double distance_of(const PairView& pairs, int pair, const Vectors& x);
/// Returns those pairs of `edges_and_triangles` whose edge and triangle have a point in common.
DeviceArray<CandidatePair> find_intersections(const PairView& pairs,
                                              const DeviceArray<CandidatePair>& edges_and_triangles, const Vectors& x);

}  // namespace diffsim::contact
