// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/barrier.hpp"
#include "contact/distance.hpp"
#include "contact/friction.hpp"
#include "contact/mollifier.hpp"
#include "contact/penalty.hpp"

namespace diffsim::contact {

/// Potential ψ(s) of a contact law as a function of the squared distance s, and its derivatives with respect to s.
struct ContactPotential {
  double value;     ///< m
  double gradient;  ///< 1/m
  double hessian;   ///< 1/m³
};

/// Contact law of a pair: the values of the contact parameters on which the force of the pair depends. The force also
/// depends on the positions and velocities of the pair's points, and on the pair's weights (PointTriangleWeightsOf,
/// EdgeEdgeWeightsOf). The thickness is a value without derivatives unless the type `Thickness` is a Dual.
template <class T, class Thickness = double>
struct ContactLaw {
  T stiffness;  ///< barrier stiffness κ, Pa
  T range;      ///< barrier distance d̂, m
  T friction;   ///< Coulomb coefficient µ
  T velocity;   ///< sliding velocity ε_v below which friction is smoothed, m/s
  /// Thickness ξ (m): the mean of the thicknesses of the two surfaces, unless these surfaces have a thickness for their
  /// contact with each other (ContactTerm). A barrier keeps the distance of a pair greater than the thickness ξ.
  Thickness thickness = Thickness(0.0);
  T damping = T(0.0);       ///< damping c of a penalty, s/m
  bool is_penalty = false;  ///< true: ψ is a penalty (contact/penalty.hpp); false: a barrier (contact/barrier.hpp)

  /// Potential ψ (m) at the squared distance s = `squared`, which must be less than `limit`.
  DIFFSIM_FUNCTION T potential(const T& squared) const {
    using std::sqrt;
    if (!is_penalty) return range * barrier(barrier_argument(squared, range, thickness));
    const T r = compression(T(sqrt(squared) - thickness), range);
    return (1.0 / 3.0) * range * r * r * r;
  }
  /// Derivative ∂ψ/∂s (1/m) of the potential ψ with respect to the squared distance s = `squared` < `limit`.
  DIFFSIM_FUNCTION T slope(const T& squared) const {
    using std::sqrt;
    if (!is_penalty) return barrier_gradient(barrier_argument(squared, range, thickness)) / (range + 2.0 * thickness);
    const T d = sqrt(squared), r = compression(T(d - thickness), range);
    return -0.5 * r * r / d;
  }
  /// Potential ψ at the squared distance `squared` with its first and second derivatives; zero beyond `limit`.
  DIFFSIM_FUNCTION ContactPotential at(double squared) const {
    if (is_penalty) {
      const Penalty psi(squared, value_of(range), value_of(thickness));
      return {psi.value, psi.gradient, psi.hessian};
    }
    const Barrier psi(squared, value_of(range), value_of(thickness));
    return {psi.value, psi.gradient, psi.hessian};
  }
  /// Squared distance (ξ + d̂)², in m², at which and beyond which a pair with the thickness ξ and the barrier distance d̂
  /// has no force.
  DIFFSIM_FUNCTION double limit() const {
    const double distance = value_of(range) + value_of(thickness);
    return distance * distance;
  }
};

/// Weights, in the contact energy, of a pair of the point x0 and the triangle x1 x2 x3. The energy of the pair is
///   E = κ a (d̂/2)^codimension Σ_j w_j ψ(d_j², d̂, ξ),
/// with the barrier stiffness κ, the barrier distance d̂ and the thickness ξ of the ContactLaw, the factor a = `area`,
/// the potential ψ of the ContactLaw, and the distances d_j of x0 from the triangle, edge or corner j. The sum is
/// over the triangle with the weight w_j = 1, and over the triangle's edges and corners with the weights w_j in `edges`
/// and `corners` (see SurfaceTriangle).
///
/// The member `codimension` is 2 minus the dimension of the surface to which the pair's point belongs. In contact, a
/// line of segments (codimension 1) counts as a strip of width d̂/2, and a point of a body of points (codimension 2) as
/// a patch of d̂/2 by d̂/2, the same patch as for crossing edges.
///
/// The factor `area` depends on the rest shape through the rest measure of the point: an area on a surface of
/// triangles, a length on a line of segments, and in a body of points the number of cells that consist of this point,
/// normally 1. If the surfaces of the point and of the triangle have the same dimension, `area` is half of the rest
/// measure, because the energy is integrated over the points of both surfaces. If the surface of the triangle has the
/// higher dimension, `area` is the full rest measure, because the energy is integrated over the points of the
/// lower-dimensional surface only.
template <class T>
struct PointTriangleWeightsOf {
  T area;
  double edges[3], corners[3];
  int codimension = 0;
};
using PointTriangleWeights = PointTriangleWeightsOf<double>;

/// Weights, in the contact energy, of a pair of the edges x0 x1 and x2 x3. The energy of the pair is
///   E = κ (d̂²/4) m(c) ψ(d², d̂, ξ),
/// with the barrier stiffness κ, the barrier distance d̂, the thickness ξ and the potential ψ of the ContactLaw, the
/// distance d of the edges, and the mollifier m(c) of the squared cross product c of the edges (contact/mollifier.hpp).
/// Crossing edges are therefore in contact over a patch of area d̂²/4. In the contact of flat surfaces with the mesh
/// size h, edge–edge pairs contribute a fraction of the contact energy that is proportional to (d̂/h)²; the
/// point–triangle pairs carry the pressure. The relative change of the contact energy between different meshes of the
/// same flat surfaces is proportional to (d̂/h)², too.
///
/// Edges of a surface without triangles may be shorter than the barrier distance d̂, and several such edges may then
/// cross the contact patch of one other edge. If an edge of the pair is of a surface without triangles (`lone`), the
/// contact patch therefore has the area ((d̂/2) l/(d̂ + l))², where l is the geometric mean of the rest lengths of both
/// edges: about d̂²/4 for l ≫ d̂, and about l²/4 for l ≪ d̂, where about d̂²/l² pairs together have the area d̂²/4.
template <class T>
struct EdgeEdgeWeightsOf {
  T threshold;  ///< threshold ε (m⁴) of the mollifier, which depends on the rest shape
  bool lone = false;
};
using EdgeEdgeWeights = EdgeEdgeWeightsOf<double>;

namespace detail {

/// Returns the product `scale` · (d̂/2)^`codimension`, where d̂ is `range`.
template <class T>
DIFFSIM_FUNCTION T with_strip(T scale, const T& range, int codimension) {
  for (int k = 0; k < codimension; ++k) scale = 0.5 * scale * range;
  return scale;
}
/// Product of the barrier stiffness κ and the area of the patch over which two edges are in contact, in N (see
/// EdgeEdgeWeightsOf).
template <class T, class X, class Weight>
DIFFSIM_FUNCTION T patch_of_edges(const EdgeEdgeWeightsOf<Weight>& weights, const ContactLaw<T, X>& law) {
  const T area = 0.25 * law.stiffness * law.range * law.range;
  if (!weights.lone) return area;
  using std::sqrt;
  // `weights.threshold` is 10⁻³ l⁴.
  const Weight length = sqrt(sqrt(1e3 * weights.threshold));
  const T part = length / (law.range + length);
  return area * part * part;
}

template <class T>
DIFFSIM_FUNCTION Vec3<double> values_of(const Vec3<T>& x) {
  return {{value_of(x[0]), value_of(x[1]), value_of(x[2])}};
}

/// Sliding velocity (m/s) of the closest points of two features: the component of Σ_k c_k v_k perpendicular to
/// r = Σ_k c_k x_k, where v_k is the velocity of point k of the pair, c_k = at.c(k), r = at.r is the vector between the
/// closest points, and `squared` is |r|². A feature is a point, or the line or plane through two or three points of the
/// pair.
template <class T>
DIFFSIM_FUNCTION Vec3<T> sliding_velocity(const Closest<T>& at, const T& squared, const Vec3<T>* v) {
  Vec3<T> u = {{T(0.0), T(0.0), T(0.0)}};
  for (int k = 0; k < 4; ++k) u = u + scaled(at.c(k), v[k]);
  return u - scaled(T(dot(u, at.r) / squared), at.r);
}

/// Rate of change (m/s) of the distance d = |r| = `distance` of two features: (r/d)·Σ_k c_k v_k, with the velocities
/// v_k of the pair's points, and c_k and r as in `sliding_velocity`.
template <class T>
DIFFSIM_FUNCTION T rate_of_distance(const Closest<T>& at, const T& distance, const Vec3<T>* v) {
  T rate(0.0);
  for (int k = 0; k < 4; ++k) rate = rate + at.c(k) * dot(at.r, v[k]);
  return rate / distance;
}

/// Adds the contact forces between two features of a pair to the array f of the forces on the pair's four points. A
/// feature is a point, or the line or plane through two or three points of the pair. The force on point k is -∂/∂x_k of
/// the energy `scale` ψ(d²), with the potential ψ of the contact law and the distance d of the features, plus, unless
/// the array `v` of velocities is nullptr, the forces of friction and damping. If `friction_alone` is true,
/// `add_feature_force` adds only the forces of friction and damping.
template <class T, class X>
DIFFSIM_FUNCTION void add_feature_force(const DistanceType& type, const T& scale, const Vec3<T>* x, const Vec3<T>* v,
                                        const ContactLaw<T, X>& law, Vec3<T>* f, bool friction_alone) {
  const Closest<T> at = closest(type, x);
  const T squared = at.squared_distance();
  const T slope = scale * law.slope(squared);  // ∂E/∂d²
  // The elastic force is -∂E/∂x_k = -2 slope c_k r: opposite forces at the closest points of the two features. Friction
  // and damping act at these closest points, too.
  Vec3<T> push = {{T(0.0), T(0.0), T(0.0)}};
  if (!friction_alone) push = scaled(T(-2.0 * slope), at.r);
  if (v) {
    using std::sqrt;
    const Vec3<T> u = sliding_velocity(at, squared, v);
    const T distance = sqrt(squared), normal = -2.0 * slope * distance;
    push = push - scaled(T(law.friction * normal * friction_factor(dot(u, u), law.velocity)), u);
    if (law.is_penalty)
      push = push + scaled(T(2.0 * slope * damping_factor(T(law.damping * rate_of_distance(at, distance, v)))), at.r);
  }
  for (int k = 0; k < 4; ++k) f[k] = f[k] + scaled(at.c(k), push);
}

/// Returns the dissipation potential µ N S(|u|) + N P(c ḋ)/c, in W, of friction and damping between two features whose
/// energy is `scale` ψ(d²). d is the distance of the features, ḋ = dd/dt, u is the sliding velocity, and N = `scale`
/// |∂ψ/∂d| is the normal force. The contact law defines the potential ψ, the Coulomb coefficient µ and the damping c. S
/// and P are the functions `friction_potential` and `damping_potential`.
DIFFSIM_FUNCTION double feature_dissipation(const DistanceType& type, double scale, const Vec3<double>* x,
                                            const Vec3<double>* v, const ContactLaw<double>& law) {
  const Closest<double> at = closest(type, x);
  const double squared = at.squared_distance(), distance = std::sqrt(squared);
  const double normal = -2.0 * scale * law.slope(squared) * distance;
  const Vec3<double> u = sliding_velocity(at, squared, v);
  const double of_friction = law.friction * normal * friction_potential(std::sqrt(dot(u, u)), law.velocity);
  if (!law.is_penalty || law.damping == 0.0) return of_friction;
  return of_friction + normal * damping_potential(law.damping * rate_of_distance(at, distance, v)) / law.damping;
}

/// Calls `visit(type, squared distance, weight)` seven times for a point–triangle pair: for the point and the triangle,
/// for the point and each edge of the triangle, and for the point and each corner of the triangle. The argument `type`
/// of `visit` describes the closest features of the point and of the triangle, edge or corner (see DistanceType).
template <class Weight, class Visit>
DIFFSIM_FUNCTION void for_each_feature(const PointTriangleWeightsOf<Weight>& weights, const Vec3<double>* x,
                                       const Visit& visit) {
  const TypedDistance whole = point_triangle_distance(x);
  visit(whole.type, whole.squared, 1.0);
  for (int k = 0; k < 3; ++k) {
    const TypedDistance edge = point_segment(x, 0, 1 + k, 1 + (k + 1) % 3);
    visit(edge.type, edge.squared, weights.edges[k]);
    const Vec3<double> r = x[0] - x[1 + k];
    visit(point_point(0, 1 + k), dot(r, r), weights.corners[k]);
  }
}

}  // namespace detail

/// Energy E (J) of a point–triangle pair or an edge–edge pair, see PointTriangleWeightsOf and EdgeEdgeWeightsOf.
DIFFSIM_FUNCTION double pair_energy(const PointTriangleWeights& weights, const Vec3<double>* x,
                                    const ContactLaw<double>& law) {
  double sum = 0.0;
  detail::for_each_feature(
      weights, x, [&](const DistanceType&, double squared, double weight) { sum += weight * law.at(squared).value; });
  return detail::with_strip(law.stiffness, law.range, weights.codimension) * weights.area * sum;
}
DIFFSIM_FUNCTION double pair_energy(const EdgeEdgeWeights& weights, const Vec3<double>* x,
                                    const ContactLaw<double>& law) {
  const double c = squared_cross(x);
  const double mollifier = c < weights.threshold ? Mollifier<double>(c, weights.threshold).value : 1.0;
  return detail::patch_of_edges(weights, law) * mollifier * law.at(edge_edge_distance(x).squared).value;
}

/// Dissipation potential D of the friction and damping of a pair, in W. The forces of friction and damping on the four
/// points of the pair, which have the velocities v_k, are -∂D/∂v_k.
DIFFSIM_FUNCTION double pair_dissipation(const PointTriangleWeights& weights, const Vec3<double>* x,
                                         const Vec3<double>* v, const ContactLaw<double>& law) {
  const double limit = law.limit();
  const double scale = detail::with_strip(law.stiffness * weights.area, law.range, weights.codimension);
  double sum = 0.0;
  detail::for_each_feature(weights, x, [&](const DistanceType& type, double squared, double weight) {
    if (squared < limit && weight != 0.0) sum += detail::feature_dissipation(type, weight * scale, x, v, law);
  });
  return sum;
}
DIFFSIM_FUNCTION double pair_dissipation(const EdgeEdgeWeights& weights, const Vec3<double>* x, const Vec3<double>* v,
                                         const ContactLaw<double>& law) {
  const TypedDistance distance = edge_edge_distance(x);
  if (distance.squared >= law.limit()) return 0.0;
  const double c = squared_cross(x);
  const double mollifier = c < weights.threshold ? Mollifier<double>(c, weights.threshold).value : 1.0;
  return detail::feature_dissipation(distance.type, detail::patch_of_edges(weights, law) * mollifier, x, v, law);
}

/// Adds the forces on the four points k of a pair to f_k: -∂E/∂x_k, with the energy E of the pair, and, unless the
/// array `v` of velocities is nullptr, the forces of friction and damping. If `friction_alone` is true,
/// `add_pair_force` adds only the forces of friction and damping. If T is a Dual, the array f contains the forces and
/// their derivatives; the choice of the closest points, edges or triangles depends only on the values of the positions,
/// not on derivatives. The type `Weight` of the pair's weights may be a Dual or a double.
template <class T, class X, class Weight>
DIFFSIM_FUNCTION void add_pair_force(const PointTriangleWeightsOf<Weight>& weights, const Vec3<T>* x, const Vec3<T>* v,
                                     const ContactLaw<T, X>& law, Vec3<T>* f, bool friction_alone = false) {
  const Vec3<double> at[4] = {detail::values_of(x[0]), detail::values_of(x[1]), detail::values_of(x[2]),
                              detail::values_of(x[3])};
  const double limit = law.limit();
  detail::for_each_feature(weights, at, [&](const DistanceType& type, double squared, double weight) {
    if (squared < limit && weight != 0.0)
      detail::add_feature_force(
          type, detail::with_strip(T((weight * weights.area) * law.stiffness), law.range, weights.codimension), x, v,
          law, f, friction_alone);
  });
}
template <class T, class X, class Weight>
DIFFSIM_FUNCTION void add_pair_force(const EdgeEdgeWeightsOf<Weight>& weights, const Vec3<T>* x, const Vec3<T>* v,
                                     const ContactLaw<T, X>& law, Vec3<T>* f, bool friction_alone = false) {
  const Vec3<double> at[4] = {detail::values_of(x[0]), detail::values_of(x[1]), detail::values_of(x[2]),
                              detail::values_of(x[3])};
  const TypedDistance distance = edge_edge_distance(at);
  if (distance.squared >= law.limit()) return;
  const T area = detail::patch_of_edges(weights, law);
  const T c = squared_cross(x);
  if (value_of(c) >= value_of(weights.threshold))
    return detail::add_feature_force(distance.type, area, x, v, law, f, friction_alone);
  const Mollifier<T> mollifier(c, weights.threshold);
  detail::add_feature_force(distance.type, T(area * mollifier.value), x, v, law, f, friction_alone);
  if (friction_alone) return;
  const T slope = area * law.potential(squared_distance(distance.type, x)) * mollifier.gradient;
  for (int k = 0; k < 4; ++k) f[k] = f[k] - detail::scaled(slope, squared_cross_gradient(x, k));
}

}  // namespace diffsim::contact
