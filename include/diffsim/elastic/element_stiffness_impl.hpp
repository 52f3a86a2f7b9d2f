// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/element_blocks_impl.hpp"
#include "diffsim/elastic/shared_law.hpp"

namespace diffsim::elastic {

/// Whether H is positive definite in all lanes, by the pivots of LDLᵀ.
template <class T>
DIFFSIM_FUNCTION bool is_positive_definite(const T (&H)[9][9]) {
  T A[9][9];
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j <= i; ++j) A[i][j] = H[i][j];
  for (int k = 0; k < 9; ++k) {
    if (any_not_greater(A[k][k], 0.0)) return false;
    const T inverse = T(1.0) / A[k][k];
    for (int i = k + 1; i < 9; ++i) {
      const T factor = A[i][k] * inverse;
      for (int j = k + 1; j <= i; ++j) A[i][j] -= factor * A[j][k];
    }
  }
  return true;
}

/// The nearest positive semidefinite matrix: negative eigenvalues become 0, by cyclic Jacobi (Golub & Van Loan,
/// ch. 8.5), all lanes at once until the last has converged.
template <class T>
DIFFSIM_FUNCTION void project_to_semidefinite(T (&H)[9][9]) {
  using std::abs, std::copysign, std::sqrt;
  T A[9][9], V[9][9];
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      A[i][j] = 0.5 * (H[i][j] + H[j][i]);
      V[i][j] = i == j ? 1.0 : 0.0;
    }
  for (int sweep = 0; sweep < 12; ++sweep) {
    T off = 0.0, all = 0.0;
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        all += A[i][j] * A[i][j];
        if (i != j) off += A[i][j] * A[i][j];
      }
    if (!any_not_greater(1e-30 * all - off, -1e-300)) break;
    for (int p = 0; p < 8; ++p)
      for (int q = p + 1; q < 9; ++q) {
        // The smaller root of t² + 2 θ t = 1, θ = (A_qq - A_pp)/(2 A_pq); 0 where A_pq is.
        const T difference = A[q][q] - A[p][p], twice = 2.0 * A[p][q];
        const T size = abs(difference) + sqrt(difference * difference + twice * twice) + 1e-300;
        const T t = copysign(T(1.0), difference) * twice / size;
        const T c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int i = 0; i < 9; ++i) {
          const T ap = A[i][p], aq = A[i][q];
          A[i][p] = c * ap - s * aq;
          A[i][q] = s * ap + c * aq;
        }
        for (int i = 0; i < 9; ++i) {
          const T ap = A[p][i], aq = A[q][i];
          A[p][i] = c * ap - s * aq;
          A[q][i] = s * ap + c * aq;
        }
        for (int i = 0; i < 9; ++i) {
          const T vp = V[i][p], vq = V[i][q];
          V[i][p] = c * vp - s * vq;
          V[i][q] = s * vp + c * vq;
        }
      }
  }
  T values[9];
  for (int k = 0; k < 9; ++k) values[k] = A[k][k] * indicator_greater(A[k][k], 0.0);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = 0.0;
      for (int k = 0; k < 9; ++k) sum += values[k] * V[i][k] * V[j][k];
      H[i][j] = H[j][i] = sum;
    }
}

/// Adds weight · Σ V g_a · H · g_b of a pack's cells over the points that are worked at once, from `first` on, H [9, 9]
/// the derivative of a stress by ∂x/∂X, made semidefinite first if asked. H is overwritten.
template <class E>
DIFFSIM_SHARED_FUNCTION void add_stiffness(const CellGeometry<E>& geometry, int pack, int first, double weight,
                                           bool project, Pack (&H)[E::points_at_once][9][9], const BlockSink& sink) {
  Vec3<Pack> g[E::points_at_once][E::nodes];
  if constexpr (all_at_once<E>) first = 0;
  const int count = num_points_from<E>(first);
  for (int q = 0; q < count; ++q) {
    const auto [inverse, volume] = geometry.at(pack, first + q);
    const Pack scale = Pack(weight) * volume;
    if (project && !is_positive_definite(H[q])) project_to_semidefinite(H[q]);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) H[q][i][j] *= scale;
    shape_gradients<E>(geometry.rule, first + q, inverse, g[q]);
  }
  add_element_blocks<E, true>(H, g, count, sink);
}

DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<Tet4>(const CellGeometry<Tet4>&, int, int, double, bool,
                                                    Pack (&)[Tet4::points_at_once][9][9], const BlockSink&))
DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<Tet10>(const CellGeometry<Tet10>&, int, int, double, bool,
                                                     Pack (&)[Tet10::points_at_once][9][9], const BlockSink&))
DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<FineTet10>(const CellGeometry<FineTet10>&, int, int, double, bool,
                                                         Pack (&)[FineTet10::points_at_once][9][9], const BlockSink&))

/// Adds `weight` ∂f/∂x of cells: K_ab = -Σ_points V g_a · ∂P/∂F · g_b, g_a = ∂N_a/∂X.
template <Law L, class E>
struct Stiffness {
  Elements<L, E> elements;
  const double* x;
  double weight;
  bool project;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, const BlockSink& sink) const {
    const CellGeometry<E>& geometry = elements.geometry;
    Pack moduli[L::num_moduli];
    elements.moduli_at(pack, moduli);
    for (int first = 0; first < E::Rule::num_points; first += E::points_at_once) {
      Pack H[E::points_at_once][9][9];
      Mat3<Pack> F[E::points_at_once];
      gradients_at<E>(geometry, pack, first, vertices, x, F);
      const int count = num_points_from<E>(first);
      for (int q = 0; q < count; ++q) stress_jacobian<L>(F[q], moduli, H[q]);
      add_stiffness<E>(geometry, pack, first, -weight, project, H, sink);
    }
  }
};

}  // namespace diffsim::elastic
