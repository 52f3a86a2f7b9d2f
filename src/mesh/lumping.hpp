// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Integrals of a density ρ over the cells, lumped to the vertices i: s_i = Σ share_i ρ V, summed over the cells with
/// the vertex i. Also provides the derivatives of s_i with respect to the density and the rest positions.
///
/// share_i is the fraction of the cell's integral that vertex i receives: ¼ for linear cells, and `mass_share` of
/// mesh/impl/element_kernels.hpp for second-order cells. V is the volume that the cell represents
/// (TetrahedralMesh::volume_factors). Densities have the shape [cells]. Rest positions and results have the shape
/// [local vertices, 3]; s_i is repeated in the three components. All functions add this rank's contribution.
class Lumping {
 public:
  explicit Lumping(const TetrahedralMesh& mesh);
  ~Lumping();
  Lumping(Lumping&&) noexcept;

  void add_sums(const Field& density, const Field& rest, Field& sums) const;
  /// Adds the derivative of the sums along a direction of the density and of the rest positions. The value nullptr
  /// stands for a zero direction.
  void add_sums_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                        const Field* rest_tangent, Field& sums_tangent) const;
  /// Adds the transposed derivative applied to `w` [local vertices, 3] to the gradients with respect to the density and
  /// the rest positions. `w` must be valid on ghosts. A gradient is not computed if its pointer is nullptr.
  void add_sums_adjoint(const Field& density, const Field& rest, const Field& w, Field* density_gradient,
                        Field* rest_gradient) const;

  struct Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diffsim
