// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/pair_kernels.hpp"
#include "contact/separation.hpp"

namespace diffsim::contact {

KOKKOS_INLINE_FUNCTION Vec3<double> vector_at(const Vectors& x, int v) {
  return {{x(3 * v), x(3 * v + 1), x(3 * v + 2)}};
}
KOKKOS_INLINE_FUNCTION void load(const PairView& pairs, int p, const Vectors& x, Vec3<double>* points) {
  int v[4];
  pairs.vertices(p, v);
  for (int k = 0; k < 4; ++k) points[k] = vector_at(x, v[k]);
}
KOKKOS_INLINE_FUNCTION double squared_distance_of(const PairView& pairs, int p, const Vec3<double>* x) {
  return pairs.is_point_triangle(p) ? point_triangle_distance(x).squared : edge_edge_distance(x).squared;
}
/// Returns true if the distance of pair p, whose four points have the positions x, is less than `distance` (m).
KOKKOS_INLINE_FUNCTION bool is_nearer(const PairView& pairs, int p, const Vec3<double>* x, double distance) {
  const bool farther = pairs.is_point_triangle(p) ? is_farther<1>(x, distance) : is_farther<2>(x, distance);
  return !farther && squared_distance_of(pairs, p, x) < distance * distance;
}
template <class T, class X>
KOKKOS_INLINE_FUNCTION void add_force_of(const PairView& pairs, int p, const Vec3<T>* x, const Vec3<T>* v,
                                         const ContactLaw<T, X>& law, Vec3<T>* f) {
  if (pairs.is_point_triangle(p))
    add_pair_force(pairs.point_triangle_weights(p), x, v, law, f, pairs.friction_alone);
  else
    add_pair_force(pairs.edge_edge_weights(p), x, v, law, f, pairs.friction_alone);
}
/// Weight through which the energy of a pair depends on the rest shape: `PointTriangleWeights::area` of a
/// point–triangle pair, `EdgeEdgeWeights::threshold` of an edge–edge pair.
KOKKOS_INLINE_FUNCTION double weight_of(const PairView& pairs, int p) {
  return pairs.is_point_triangle(p) ? pairs.point_triangle_weights(p).area : pairs.edge_edge_weights(p).threshold;
}
/// Adds the forces on the four points of pair p to the array f, with `weight` in place of the value that `weight_of`
/// returns. The argument `weight` may be a Dual, for derivatives with respect to the rest shape.
template <class T, class X>
KOKKOS_INLINE_FUNCTION void add_force_of(const PairView& pairs, int p, const T& weight, const Vec3<T>* x,
                                         const Vec3<T>* v, const ContactLaw<T, X>& law, Vec3<T>* f) {
  if (pairs.is_point_triangle(p)) {
    const PointTriangleWeights given = pairs.point_triangle_weights(p);
    PointTriangleWeightsOf<T> weights;
    weights.area = weight;
    weights.codimension = given.codimension;
    for (int k = 0; k < 3; ++k) {
      weights.edges[k] = given.edges[k];
      weights.corners[k] = given.corners[k];
    }
    add_pair_force(weights, x, v, law, f, pairs.friction_alone);
  } else {
    add_pair_force(EdgeEdgeWeightsOf<T>{weight, pairs.edge_edge_weights(p).lone}, x, v, law, f, pairs.friction_alone);
  }
}
KOKKOS_INLINE_FUNCTION void store(const Vec3<double>& value, int active, int k, const Vectors& values) {
  for (int c = 0; c < 3; ++c) values(3 * (4 * active + k) + c) = value[c];
}
inline Range over(std::size_t size) { return Range(0, static_cast<int>(size)); }

}  // namespace diffsim::contact
