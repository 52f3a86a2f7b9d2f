// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/pair_force.hpp"
#include "diffsim/core/impl/semidefinite.hpp"

namespace diffsim::contact {

/// Hessian ∂²E/∂x² (N/m) of the energy E of a pair (contact/pair_force.hpp) with respect to the twelve coordinates of
/// the pair's four points: `of[3 k + i][3 l + j]` = ∂²E/∂x_ki∂x_lj for the components i and j of the points k and l.
struct PairHessian {
  double of[12][12];
};

namespace detail {

/// Adds the matrix a H_s + b ∇s ∇sᵀ to the matrix h, where a and b are factors, s = d² is the squared distance between
/// two features, and H_s is the Hessian of s. A feature is a point, a line or a plane. `at`: closest points of the two
/// features.
DIFFSIM_FUNCTION void add_distance_hessian(const Closest<double>& at, double a, double b, PairHessian& h) {
  for (int k = 0; k < 4; ++k) {
    if (at.c(k) == 0.0 && at.b(k, 0) == 0.0 && at.b(k, 1) == 0.0) continue;
    const Vec3<double> gk = squared_distance_gradient(at, k);
    for (int l = 0; l <= k; ++l) {
      const Vec3<double> gl = squared_distance_gradient(at, l);
      const Mat3<double> block = squared_distance_hessian(at, k, l);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const double value = a * block(i, j) + b * gk[i] * gl[j];
          h.of[3 * k + i][3 * l + j] += value;
          if (k != l) h.of[3 * l + j][3 * k + i] += value;
        }
    }
  }
}

}  // namespace detail

/// Adds the Hessian ∂²E/∂x² of the energy E of a point–triangle pair to the matrix h.
DIFFSIM_FUNCTION void add_pair_hessian(const PointTriangleWeights& weights, const Vec3<double>* x,
                                       const ContactLaw<double>& law, PairHessian& h) {
  const double limit = law.limit();
  detail::for_each_feature(weights, x, [&](const DistanceType& type, double squared, double weight) {
    if (!(squared < limit) || weight == 0.0) return;
    const double scale = detail::with_strip(weight * weights.area * law.stiffness, law.range, weights.codimension);
    const Closest<double> at = closest(type, x);
    const ContactPotential psi = law.at(at.squared_distance());
    detail::add_distance_hessian(at, scale * psi.gradient, scale * psi.hessian, h);
  });
}

/// Adds the Hessian ∂²E/∂x² of the energy E of an edge–edge pair to the matrix h. With the potential ψ, the mollifier
/// m(c), and the squared cross product c of the edges (contact/mollifier.hpp), the Hessian of the product m ψ with
/// respect to x is
///   ∇²(m ψ) = m ∇²ψ + m' (∇c ∇ψᵀ + ∇ψ ∇cᵀ) + ψ (m'' ∇c ∇cᵀ + m' ∇²c),   m' = dm/dc,   m'' = d²m/dc².
DIFFSIM_FUNCTION void add_pair_hessian(const EdgeEdgeWeights& weights, const Vec3<double>* x,
                                       const ContactLaw<double>& law, PairHessian& h) {
  const TypedDistance distance = edge_edge_distance(x);
  if (distance.squared >= law.limit()) return;
  const double area = detail::patch_of_edges(weights, law);
  const Closest<double> at = closest(distance.type, x);
  const ContactPotential psi = law.at(at.squared_distance());
  const double c = squared_cross(x);
  if (c >= weights.threshold) return detail::add_distance_hessian(at, area * psi.gradient, area * psi.hessian, h);
  const Mollifier<double> m(c, weights.threshold);
  detail::add_distance_hessian(at, area * m.value * psi.gradient, area * m.value * psi.hessian, h);
  for (int k = 0; k < 4; ++k) {
    const Vec3<double> ck = squared_cross_gradient(x, k), sk = squared_distance_gradient(at, k);
    for (int l = 0; l < 4; ++l) {
      const Vec3<double> cl = squared_cross_gradient(x, l), sl = squared_distance_gradient(at, l);
      const Mat3<double> block = squared_cross_hessian(x, k, l);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          h.of[3 * k + i][3 * l + j] += area * (m.gradient * psi.gradient * (ck[i] * sl[j] + sk[i] * cl[j]) +
                                                psi.value * (m.hessian * ck[i] * cl[j] + m.gradient * block(i, j)));
    }
  }
}

/// Replaces a symmetric matrix by the nearest symmetric positive semidefinite matrix.
DIFFSIM_FUNCTION void make_semidefinite(PairHessian& h) { diffsim::make_semidefinite(h.of); }

/// Replaces a symmetric matrix by the nearest symmetric positive semidefinite matrix. The null space of the matrix h
/// must contain the translations of the pair; the computation then needs only the nine-dimensional space of relative
/// displacements of the pair's four points. The last three rows of the Hadamard matrix of order four, multiplied by ½,
/// are an orthonormal basis of the relative displacements of the four points.
DIFFSIM_FUNCTION void make_semidefinite_between(PairHessian& h) {
  constexpr double sign[3][4] = {{1.0, 1.0, -1.0, -1.0}, {1.0, -1.0, 1.0, -1.0}, {1.0, -1.0, -1.0, 1.0}};
  double relative[9][9], half[9][12];
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 3; ++i)
      for (int column = 0; column < 12; ++column) {
        double sum = 0.0;
        for (int k = 0; k < 4; ++k) sum += sign[a][k] * h.of[3 * k + i][column];
        half[3 * a + i][column] = 0.25 * sum;
      }
  for (int row = 0; row < 9; ++row)
    for (int b = 0; b < 3; ++b)
      for (int j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (int l = 0; l < 4; ++l) sum += sign[b][l] * half[row][3 * l + j];
        relative[row][3 * b + j] = sum;
      }
  diffsim::make_semidefinite(relative);
  for (int row = 0; row < 9; ++row)
    for (int l = 0; l < 4; ++l)
      for (int j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (int b = 0; b < 3; ++b) sum += sign[b][l] * relative[row][3 * b + j];
        half[row][3 * l + j] = 0.25 * sum;
      }
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 3; ++i)
      for (int column = 0; column < 12; ++column) {
        double sum = 0.0;
        for (int a = 0; a < 3; ++a) sum += sign[a][k] * half[3 * a + i][column];
        h.of[3 * k + i][column] = sum;
      }
}

}  // namespace diffsim::contact
