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

/// Device addresses of the values of a contact law. `of`: addresses of the barrier stiffness κ, the barrier distance
/// d̂, the Coulomb coefficient µ, the smoothing velocity ε_v and the damping c. `thick`: addresses of the thicknesses
/// of the two primitives of a pair (a point and a triangle, or two edges). nullptr stands for the value zero.
struct LawAddresses {
  const double* of[5];
  const double* thick[2];
  bool is_penalty;

  KOKKOS_INLINE_FUNCTION double at(int k) const { return of[k] ? *of[k] : 0.0; }
  /// Thickness ξ (m) of a contact law, the mean of the thicknesses of the two primitives of a pair.
  KOKKOS_INLINE_FUNCTION double thickness() const {
    return 0.5 * ((thick[0] ? *thick[0] : 0.0) + (thick[1] ? *thick[1] : 0.0));
  }
  KOKKOS_INLINE_FUNCTION ContactLaw<double> law() const {
    return {at(0), at(1), at(2), at(3), thickness(), at(4), is_penalty};
  }
  /// Bound (m) that the distance of two surfaces must exceed: the thickness for a barrier, and 0 for a penalty, which
  /// allows a distance below the thickness.
  KOKKOS_INLINE_FUNCTION double kept_distance() const { return is_penalty ? 0.0 : thickness(); }
  bool is_thick() const { return thick[0] || thick[1]; }
};

/// Contact laws of the point–triangle and edge–edge pairs of a rank. The surface groups of the two primitives of a pair
/// determine the contact law of the pair; a surface group is a region, a body or an obstacle.
struct PairLaws {
  std::vector<LawAddresses> laws;
  DeviceArray<int> of_groups;  // [groups, groups]: index in `laws`; not read if there is only one law
  int groups = 1;

  /// Returns true if some contact law has a thickness parameter, even if the value of the parameter is zero.
  bool are_thick() const {
    return std::any_of(laws.begin(), laws.end(), [](const LawAddresses& law) { return law.is_thick(); });
  }
};

/// Contiguous part of a list of pairs. All pairs of the part have the same contact law.
struct LawPart {
  LawAddresses law;
  int begin, end;
  Range range() const { return Range(begin, end); }
};

/// Pairs whose distance is below a limit, sorted by contact law. Pairs with the same contact law are in ascending order
/// of their indices.
struct NearPairs {
  DeviceArray<int> pairs;      // indices of the pairs in PairView
  std::vector<LawPart> parts;  // one part for each law, in the order of PairLaws::laws
  std::size_t size() const { return pairs.size(); }
};

/// Sums, over all pairs of one contact law, of the adjoints of the law's values: barrier stiffness κ, barrier distance
/// d̂, Coulomb coefficient µ, smoothing velocity ε_v, damping c and thickness ξ, in this order.
struct LawSums {
  static constexpr int count = 6, thickness = 5;
  double of[count] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const LawSums& other) {
    for (int k = 0; k < count; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile LawSums& other) volatile {
    for (int k = 0; k < count; ++k) of[k] = of[k] + other.of[k];
  }
};

/// Rest positions of the pairs' vertices (`positions`), and the change of the rest shape along which forces are
/// differentiated: the changes of the rest positions (`direction`), and the changes of the vertices' rest areas, or
/// rest lengths on segments (`areas` [owned vertices]). All arrays of a RestTangent are empty if forces are not
/// differentiated with respect to the rest shape.
struct RestTangent {
  DeviceArray<double> areas;
  Vectors positions, direction;
};

/// Adjoints of the rest area (`areas`) and of the rest position (`positions`) of each of the four points of each pair
/// that exerts a force, [pairs, 4, 3]; empty if the adjoints are not requested. For each point, the array `areas` has
/// the adjoint of the rest measure (`Surface::point_areas`) in the first of three components, and zeros in the other
/// two components.
struct RestAdjoint {
  Vectors areas, positions;
};

/// Returns the pairs whose distance is less than ξ + `factor` d̂, with the thickness ξ and the barrier distance d̂ of the
/// pair's contact law. The array `x` contains the vertex positions.
NearPairs pairs_within(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, ArrayPool& pool);
/// Returns the active pairs, which exert forces: the pairs whose distance is less than ξ + d̂, with the thickness ξ and
/// the barrier distance d̂ of the pair's contact law.
inline NearPairs active_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, ArrayPool& pool) {
  return pairs_within(pairs, x, laws, 1.0, pool);
}
/// Returns the touching pairs: the pairs whose distance is less than `LawAddresses::kept_distance()` + `factor` d̂,
/// with the barrier distance d̂ of the pair's contact law.
NearPairs touching_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, ArrayPool& pool);
/// Returns the vertex indices (in the order of PairView) of the four points of each of the pairs with the indices
/// `active`, as an array [active, 4].
DeviceArray<int> targets_of(const PairView& pairs, const DeviceArray<int>& active, ArrayPool& pool);
/// Returns true if two arrays of equal size have equal values, none of which is NaN.
bool have_same_values(const Vectors& a, const Vectors& b);

/// Sum of the energies of the pairs `active`, in J.
double sum_energies(const PairView& pairs, const NearPairs& active, const Vectors& x);

/// Sum of the dissipation potentials of friction and damping over the pairs `active`, in W.
double sum_dissipations(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);
/// Power that friction and damping dissipate in the pairs `active`, in W, at the vertex positions `x` and the vertex
/// velocities `v`.
double friction_power(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v);

// `pair_forces`, `pair_tangents` and `pair_adjoints` set one vector for each of the four points of each of the pairs
// `active`, [active, 4, 3]. Without friction, the velocities `v` and the tangents and adjoints of velocities are empty
// arrays.
void pair_forces(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                 const Vectors& forces);
/// Sets `tangents` to the derivatives of the forces of the pairs `active` along the change `dx` of the positions, `dv`
/// of the velocities, `dlaws` of the values of the contact laws, and `rest` of the rest shape.
void pair_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                   const Vectors& dx, const Vectors& dv, const std::vector<LawAddresses>& dlaws,
                   const RestTangent& rest, const Vectors& tangents);
/// Sets `x_bar` and `v_bar` to the gradients of w·f with respect to the positions and the velocities, where f are the
/// forces and w the adjoints of the forces. If the array `rest` of rest positions is not empty, `pair_adjoints` sets
/// `rest_bar` to the gradient of w·f with respect to the rest shape. Returns, for each contact law, the gradient of w·f
/// with respect to the values of the law.
std::vector<LawSums> pair_adjoints(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                                   const Vectors& w, const Vectors& rest, const Vectors& x_bar, const Vectors& v_bar,
                                   const RestAdjoint& rest_bar);

/// Adds ∂f/∂ξ dξ to `tangents`, the directional derivatives of the forces f, for each contact law for which `dlaws`
/// contains a direction dξ of the thickness ξ.
void add_thickness_tangents(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                            const std::vector<LawAddresses>& dlaws, const Vectors& tangents);
/// Sets the adjoint of the thickness ξ in `sums` for each contact law with a thickness: the sum of w·∂f/∂ξ over the
/// pairs of the law, with the forces f and their adjoints w.
void add_thickness_sums(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                        const Vectors& w, std::vector<LawSums>& sums);

/// Positions x and velocities v of the pairs' vertices; v is empty without friction.
struct PairPlace {
  Vectors x, v;
};
/// Directions dx of the positions and dv of the velocities, adjoints w of the forces f, and the direction dw of w. The
/// arrays dv, w and dw may be empty; an empty array stands for zero.
struct PairDirection {
  Vectors dx, dv;
  Vectors w, dw;
};
/// Adjoints x̄ and v̄: the gradients of w·f with respect to the positions and the velocities, where f are the forces and
/// w their adjoints. The arrays `dx_bar` and `dv_bar` are directional derivatives of the adjoints x̄ and v̄. All arrays
/// of a PairAdjointTangent are [active, 4, 3], with one vector for each of the four points of each pair; `v_bar` and
/// `dv_bar` are empty without friction.
struct PairAdjointTangent {
  Vectors x_bar, dx_bar, v_bar, dv_bar;
};
/// Sets `out` to the adjoints of positions and velocities that `pair_adjoints` computes, and to directional derivatives
/// of these adjoints. `direction`: changes of the positions, the velocities and the adjoints w of the forces. `dlaws`:
/// changes of the values of the contact laws. The rest shape does not change. Returns, for each contact law, the
/// directional derivatives of the LawSums that `pair_adjoints` returns.
std::vector<LawSums> pair_adjoint_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                           const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                           const PairAdjointTangent& out);
/// Sets, in `sums`, the directional derivative of the adjoint of the thickness ξ of each contact law with a thickness.
void add_thickness_sum_tangents(const PairView& pairs, const NearPairs& active, const PairPlace& at,
                                const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                std::vector<LawSums>& sums);

/// Sets `blocks` to the matrices a ∂f_k/∂x_l + b ∂f_k/∂v_l of the points k and l of each of the pairs `active`,
/// [active, 4, 4, 3, 3], with the forces f_k, the positions x_l, the velocities v_l, a = `weights.position` and b =
/// `weights.velocity`. Vertices whose index is `movable` or higher belong to obstacles; callers must not use the
/// Jacobian blocks of these vertices. If `weights.project` is true, the derivative of friction with respect to
/// positions, which is not symmetric, is omitted, and the matrix of each pair is projected to a positive semidefinite
/// matrix.
void pair_jacobians(const PairView& pairs, const NearPairs& active, const Vectors& x, const Vectors& v,
                    const JacobianWeights& weights, int movable, const Vectors& blocks);
/// Returns, for each 3×3 block that `pair_jacobians` computes, the index of the block in `matrix`. The index is the
/// number of blocks of `matrix` if `matrix` has no block for the two vertices, or if one of the two vertices has an
/// index of at least `movable`. `targets`: result of `targets_of`.
DeviceArray<int> block_targets(const DeviceArray<int>& targets, int movable, const BlockMatrix& matrix,
                               ArrayPool& pool);

/// Removes pairs that cannot come nearer than `range` (m), although the bounding boxes of their two primitives overlap.
/// Each vertex may be anywhere in the box that contains its positions in `from` and `to`, enlarged by `slack` (m) on
/// each side.
void drop_far_pairs(PairView& pairs, const Vectors& from, const Vectors& to, double range, double slack);

/// Largest safe fraction of the straight displacements of all vertices, in [0, 1], and the pair that limits the
/// fraction. Over a safe fraction of the displacements, the distance of each pair stays larger than
/// `LawAddresses::kept_distance()` of the pair's contact law (contact/ccd.hpp). The member `pair` is -1 if the largest
/// safe fraction is 1.
struct SafeStep {
  double step;
  int pair;
};
SafeStep safe_step(const PairView& pairs, const Vectors& from, const Vectors& to, const PairLaws& laws);
/// Smallest gap (m) of all pairs; infinity if this rank has no pairs. The gap of a pair is the distance between the two
/// primitives of the pair minus the contact thickness.
double least_gap(const PairView& pairs, const Vectors& x, const PairLaws& laws);
/// Text of a position, for example "(0.1, 0, 2)".
std::string text_of(const std::array<double, 3>& place);
/// Text of the midpoint of the vertices a and b, for example "(0.1, 0, 2)". `x` contains the vertex positions.
std::string middle_of(const Vectors& x, int a, int b);
/// Distance (m) between the two primitives of one pair.
double distance_of(const PairView& pairs, int pair, const Vectors& x);
/// Returns those pairs of `edges_and_triangles` whose edge and triangle have a point in common.
DeviceArray<CandidatePair> find_intersections(const PairView& pairs,
                                              const DeviceArray<CandidatePair>& edges_and_triangles, const Vectors& x);

}  // namespace diffsim::contact
