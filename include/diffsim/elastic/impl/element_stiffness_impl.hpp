// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/impl/element_blocks_impl.hpp"
#include "diffsim/elastic/impl/projection_impl.hpp"
#include "diffsim/elastic/impl/shared_law.hpp"

namespace diffsim::elastic {

/// Adds the blocks weight · Σ_q V g_a · H · g_b to a matrix, for each pair of nodes a and b of a cell and for each cell
/// of a pack, where V is the rest volume of quadrature point q, g_a = ∂N_a/∂X the gradient of the shape function of
/// node a, and H [9, 9] the derivative of a stress with respect to the deformation gradient F. The sum Σ_q is over
/// `num_points_from(first)` quadrature points, beginning with point `first`. If the flag `project` is true, H is first
/// projected to a positive semidefinite matrix. `add_stiffness` overwrites H.
template <class E>
DIFFSIM_SHARED_FUNCTION void add_stiffness(const CellGeometry<E>& geometry, int pack, int first, double weight,
                                           bool project, const Mat3<Pack> (&F)[E::points_at_once],
                                           Pack (&H)[E::points_at_once][9][9], const BlockSink& sink) {
  Vec3<Pack> g[E::points_at_once][E::nodes];
  if constexpr (all_at_once<E>) first = 0;
  const int count = num_points_from<E>(first);
  for (int q = 0; q < count; ++q) {
    const auto [inverse, volume] = geometry.at(pack, first + q);
    const Pack scale = Pack(weight) * volume;
    if (project && !is_positive_definite(H[q])) project_to_semidefinite(F[q], H[q]);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) H[q][i][j] *= scale;
    shape_gradients<E>(geometry.rule, first + q, inverse, g[q]);
  }
  add_element_blocks<E, true>(H, g, count, sink);
}

DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<Tet4>(const CellGeometry<Tet4>&, int, int, double, bool,
                                                    const Mat3<Pack> (&)[Tet4::points_at_once],
                                                    Pack (&)[Tet4::points_at_once][9][9], const BlockSink&))
DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<Tet10>(const CellGeometry<Tet10>&, int, int, double, bool,
                                                     const Mat3<Pack> (&)[Tet10::points_at_once],
                                                     Pack (&)[Tet10::points_at_once][9][9], const BlockSink&))
DIFFSIM_COMPILED_ELSEWHERE(void add_stiffness<FineTet10>(const CellGeometry<FineTet10>&, int, int, double, bool,
                                                         const Mat3<Pack> (&)[FineTet10::points_at_once],
                                                         Pack (&)[FineTet10::points_at_once][9][9], const BlockSink&))

/// Kernel that adds the blocks of ∂f/∂x, multiplied by `weight`, to a matrix, where f are the nodal forces of the cells
/// at positions x. The block of the nodes a and b of a cell in ∂f/∂x is -Σ_q V g_a · ∂P/∂F · g_b, where V is the rest
/// volume of quadrature point q, P the first Piola stress, F the deformation gradient, and g_a = ∂N_a/∂X the gradient
/// of the shape function of node a. If the flag `project` is true, ∂P/∂F is projected to a positive semidefinite
/// matrix.
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
      add_stiffness<E>(geometry, pack, first, -weight, project, F, H, sink);
    }
  }
};

}  // namespace diffsim::elastic
