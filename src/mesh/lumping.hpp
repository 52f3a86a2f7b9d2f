// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Integrals of a density ρ over the cells, lumped to the vertices: vertex i receives the sum s_i = Σ_c share_i ρ_c V_c
/// over the cells c with the vertex i. Also provides the derivatives of s_i with respect to the density and the rest
/// positions.
///
/// share_i is the fraction of the cell's integral that vertex i receives: ¼ for linear cells, and `mass_share` of
/// mesh/impl/element_kernels.hpp for second-order cells. ρ_c is the density of cell c. V_c is the volume that cell c
/// represents: the volume of the cell, or of the whole body for the single cell of an affine body
/// (TetrahedralMesh::volume_factors). Densities have the shape [cells]. Rest positions and results have the shape
/// [local vertices, 3]; s_i is repeated in the three components. All functions add this rank's contribution.
class Lumping {
 public:
  explicit Lumping(const TetrahedralMesh& mesh);
  ~Lumping();
  Lumping(Lumping&&) noexcept;

  void add_sums(const Field& density, const Field& rest, Field& sums) const;
  /// Adds the derivative of the sums s_i along the direction `density_tangent` of the density and `rest_tangent` of the
  /// rest positions. nullptr stands for zeros.
  void add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                        const Field* rest_tangent, Field& sums_tangent) const;
  /// Adds the derivatives of Σ_i w_i·(s_i, s_i, s_i) with respect to the density and the rest positions to the
  /// gradients. `w`: [local vertices, 3], with up-to-date values at copies of other ranks' vertices. A gradient is not
  /// computed if its pointer is nullptr.
  void add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                        Field* rest_gradient) const;

  struct Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diffsim
