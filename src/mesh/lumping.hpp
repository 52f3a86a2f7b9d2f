// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Integrals of a density over the cells, lumped to the vertices, and derivatives of these integrals with respect to
/// the density and the rest positions. Vertex i receives the sum s_i = Σ_c a_ci ρ_c V_c over the cells c with the
/// vertex i. ρ_c is the density of cell c, V_c is the volume that cell c represents, and a_ci is the fraction of the
/// cell's integral that vertex i receives.
///
/// The fraction a_ci is ¼ for linear cells, and `mass_share` of mesh/impl/element_kernels.hpp for second-order cells.
/// The volume V_c is the volume of the cell, or of the whole body for the single cell of an affine body
/// (TetrahedralMesh::volume_factors). Arrays of densities have the shape [cells]. Arrays of rest positions and of sums
/// s_i have the shape [local vertices, 3]; the sum s_i of vertex i is repeated in the three components. Each member
/// function of Lumping adds the contribution of this rank's cells to the values in the result array.
class Lumping {
 public:
  explicit Lumping(const TetrahedralMesh& mesh);
  ~Lumping();
  Lumping(Lumping&&) noexcept;

  void add_sums(const Field& density, const Field& rest, Field& sums) const;
  /// Adds, to `sums_tangent`, the directional derivative of the sums s_i; the direction is `density_tangent` for the
  /// density and `rest_tangent` for the rest positions. A direction that is nullptr stands for zero.
  void add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                        const Field* rest_tangent, Field& sums_tangent) const;
  /// Adds, to `density_gradient` and `rest_gradient`, the derivatives of Σ_i w_i·(s_i, s_i, s_i) with respect to the
  /// density and the rest positions, where s_i is the sum at vertex i and w_i is a constant vector. `w`: vectors w_i
  /// [local vertices, 3], with up-to-date values at copies of other ranks' vertices. A gradient is not computed if its
  /// pointer is nullptr.
  void add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                        Field* rest_gradient) const;

  struct Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diffsim
