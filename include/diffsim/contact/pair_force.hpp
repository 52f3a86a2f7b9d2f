// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/contact/barrier.hpp"
#include "diffsim/contact/distance.hpp"
#include "diffsim/contact/friction.hpp"
#include "diffsim/contact/mollifier.hpp"

namespace diffsim::contact {

/// Law and weights that the force of a pair depends on, beside the positions and velocities of its four points.
template <class T>
struct ContactLaw {
  T stiffness;  ///< κ, Pa
  T range;      ///< d̂, m
  T friction;   ///< µ
  T velocity;   ///< ε_v, m/s
};

/// Point x0 and triangle x1 x2 x3, whose weights are those of SurfaceTriangle: E = κ a Σ_j w_j ψ(d_j², d̂) over the
/// triangle, its edges and its corners; a is half of the point's area, since two surfaces in touch each integrate over
/// themselves. The area follows the rest shape.
template <class T>
struct PointTriangleWeightsOf {
  T area;
  double edges[3], corners[3];
};
using PointTriangleWeights = PointTriangleWeightsOf<double>;

/// Edges x0 x1 and x2 x3: E = κ (d̂²/4) m(c) ψ(d², d̂). Where edges cross, a patch of that size is in touch; its energy,
/// and so what a flat contact depends on the mesh, falls as (d̂/h)² while points and triangles give the pressure.
template <class T>
struct EdgeEdgeWeightsOf {
  T threshold;  ///< of the mollifier, m⁴; follows the rest shape
};
using EdgeEdgeWeights = EdgeEdgeWeightsOf<double>;

namespace detail {

template <class T>
DIFFSIM_FUNCTION Vec3<double> values_of(const Vec3<T>& x) {
  return {{value_of(x[0]), value_of(x[1]), value_of(x[2])}};
}

/// f += force of the energy `scale` ψ(d²) of two features, and its friction; `v` is nullptr without friction.
template <class T>
DIFFSIM_FUNCTION void add_feature_force(const DistanceType& type, const T& scale, const Vec3<T>* x, const Vec3<T>* v,
                                        const ContactLaw<T>& law, Vec3<T>* f) {
  const Closest<T> at = closest(type, x);
  const T squared = at.squared_distance();
  const T y = squared / (law.range * law.range);
  const T slope = scale * barrier_gradient(y) / law.range;  // ∂E/∂d²
  // -∂E/∂x_k = -2 slope c_k r; friction acts at the same two points, against the part of u = Σ c_k v_k across r.
  Vec3<T> push = scaled(T(-2.0 * slope), at.r);
  if (v) {
    using std::sqrt;
    Vec3<T> u = {{T(0.0), T(0.0), T(0.0)}};
    for (int k = 0; k < 4; ++k) u = u + scaled(at.c(k), v[k]);
    u = u - scaled(T(dot(u, at.r) / squared), at.r);
    const T normal = -2.0 * slope * sqrt(squared);
    push = push - scaled(T(law.friction * normal * friction_factor(dot(u, u), law.velocity)), u);
  }
  for (int k = 0; k < 4; ++k) f[k] = f[k] + scaled(at.c(k), push);
}

/// Calls `visit(type, squared distance, weight)` for each feature of a point–triangle pair.
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

/// E of a pair, J.
DIFFSIM_FUNCTION double pair_energy(const PointTriangleWeights& weights, const Vec3<double>* x,
                                    const ContactLaw<double>& law) {
  double sum = 0.0;
  detail::for_each_feature(weights, x, [&](const DistanceType&, double squared, double weight) {
    sum += weight * Barrier(squared, law.range).value;
  });
  return law.stiffness * weights.area * sum;
}
DIFFSIM_FUNCTION double pair_energy(const EdgeEdgeWeights& weights, const Vec3<double>* x,
                                    const ContactLaw<double>& law) {
  const double c = squared_cross(x);
  const double mollifier = c < weights.threshold ? Mollifier<double>(c, weights.threshold).value : 1.0;
  return 0.25 * law.stiffness * law.range * law.range * mollifier *
         Barrier(edge_edge_distance(x).squared, law.range).value;
}

/// f_k += -∂E/∂x_k and friction, on the four points. For T = Dual: with its derivatives; features are chosen by values.
/// Weights have derivatives or none.
template <class T, class Weight>
DIFFSIM_FUNCTION void add_pair_force(const PointTriangleWeightsOf<Weight>& weights, const Vec3<T>* x, const Vec3<T>* v,
                                     const ContactLaw<T>& law, Vec3<T>* f) {
  const Vec3<double> at[4] = {detail::values_of(x[0]), detail::values_of(x[1]), detail::values_of(x[2]),
                              detail::values_of(x[3])};
  const double limit = value_of(law.range) * value_of(law.range);
  detail::for_each_feature(weights, at, [&](const DistanceType& type, double squared, double weight) {
    if (squared < limit && weight != 0.0)
      detail::add_feature_force(type, T((weight * weights.area) * law.stiffness), x, v, law, f);
  });
}
template <class T, class Weight>
DIFFSIM_FUNCTION void add_pair_force(const EdgeEdgeWeightsOf<Weight>& weights, const Vec3<T>* x, const Vec3<T>* v,
                                     const ContactLaw<T>& law, Vec3<T>* f) {
  const Vec3<double> at[4] = {detail::values_of(x[0]), detail::values_of(x[1]), detail::values_of(x[2]),
                              detail::values_of(x[3])};
  const TypedDistance distance = edge_edge_distance(at);
  if (distance.squared >= value_of(law.range) * value_of(law.range)) return;
  const T area = 0.25 * law.stiffness * law.range * law.range;
  const T c = squared_cross(x);
  if (value_of(c) >= value_of(weights.threshold)) return detail::add_feature_force(distance.type, area, x, v, law, f);
  const Mollifier<T> mollifier(c, weights.threshold);
  detail::add_feature_force(distance.type, T(area * mollifier.value), x, v, law, f);
  const T y = squared_distance(distance.type, x) / (law.range * law.range);
  const T slope = area * law.range * barrier(y) * mollifier.gradient;
  for (int k = 0; k < 4; ++k) f[k] = f[k] - detail::scaled(slope, squared_cross_gradient(x, k));
}

}  // namespace diffsim::contact
