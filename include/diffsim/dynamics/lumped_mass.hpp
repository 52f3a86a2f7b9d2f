// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/lumping.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Lumped masses m_i = Σ_{cells at i} share_i ρ V, and their derivatives by the cells' density and the rest shape.
class LumpedMass {
 public:
  explicit LumpedMass(const TetrahedralMesh& mesh);

  /// From density [cells], kg/m³, and rest positions [local vertices, 3], m. Throws Error for a density that is not
  /// positive. Collective.
  void compute(const Field& density, const Field& rest);
  /// dm along directions of density and rest positions, either of which may be nullptr. Collective.
  void compute_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                       const Field* rest_tangent);
  /// Adds to the gradients that are not nullptr; m̄ [owned vertices, 3], summed over components. Collective.
  void add_gradient(const Field& density, const Field& rest, const Field& mass_gradient, Field* density_gradient,
                    Field* rest_gradient) const;

  const Field& mass() const { return mass_; }                  ///< [owned vertices], kg
  const Field& mass_tangent() const { return mass_tangent_; }  ///< [owned vertices], kg

 private:
  void gather(Field& sums, Field& owned) const;

  const TetrahedralMesh* mesh_;
  Lumping lumping_;
  Field mass_;
  Field mass_tangent_;  // made when first asked for
};

}  // namespace diffsim
