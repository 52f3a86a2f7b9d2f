// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/elastic/impl/elements_impl.hpp"

namespace diffsim::elastic {

/// Computes the gradients g_a = ∂N_a/∂X of the shape functions N_a with respect to the rest positions X at quadrature
/// point q. The rows of `inverse` = (∂X/∂ξ)⁻¹, with the reference coordinates ξ of the cell, are the gradients of the
/// barycentric coordinates 1, 2 and 3; the gradient of the barycentric coordinate 0 is minus the sum of the rows.
template <class E>
DIFFSIM_FUNCTION void shape_gradients(const typename E::Rule& rule, int q, const Mat3<Pack>& inverse,
                                      Vec3<Pack> (&g)[E::nodes]) {
  Vec3<Pack> corner[4];
  for (int j = 0; j < 3; ++j) {
    for (int a = 0; a < 3; ++a) corner[a + 1][j] = inverse(a, j);
    corner[0][j] = -(inverse(0, j) + inverse(1, j) + inverse(2, j));
    for (int a = 0; a < E::nodes; ++a) g[a][j] = 0.0;
  }
  E::add_corners_adjoint(rule, q, corner, g);
}

/// Adds the block K_ab[i][k] = Σ_q Σ_jl g_a[j] H[3 i + j][3 k + l] g_b[l] to a matrix for each pair of nodes a and b of
/// a cell and for each cell of a pack, where g_a is the gradient of the shape function of node a, and the sum Σ_q is
/// over `count` quadrature points. H [9, 9] is the derivative of a stress with respect to the deformation gradient
/// ∂x/∂X (both row-major), multiplied by the rest volume of the quadrature point. If the template argument `symmetric`
/// is true, H must be symmetric, so that K_ba = K_abᵀ.
template <class E, bool symmetric>
DIFFSIM_FUNCTION void add_element_blocks(const Pack (&H)[E::points_at_once][9][9],
                                         const Vec3<Pack> (&g)[E::points_at_once][E::nodes], int count,
                                         const BlockSink& sink) {
  for (int b = 0; b < E::nodes; ++b) {
    Pack T[E::points_at_once][9][3];  // H · g_b: row (i, j), column k
    for (int q = 0; q < count; ++q)
      for (int i = 0; i < 9; ++i)
        for (int k = 0; k < 3; ++k)
          T[q][i][k] = H[q][i][3 * k] * g[q][b][0] + H[q][i][3 * k + 1] * g[q][b][1] + H[q][i][3 * k + 2] * g[q][b][2];
    for (int a = 0; a <= (symmetric ? b : E::nodes - 1); ++a) {
      Mat3<Pack> block;
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
          Pack sum = 0.0;
          for (int q = 0; q < count; ++q)
            sum += g[q][a][0] * T[q][3 * i][k] + g[q][a][1] * T[q][3 * i + 1][k] + g[q][a][2] * T[q][3 * i + 2][k];
          block(i, k) = sum;
        }
      sink.add(a, b, block);
      if (symmetric && a != b) sink.add(b, a, transpose(block));
    }
  }
}

}  // namespace diffsim::elastic
