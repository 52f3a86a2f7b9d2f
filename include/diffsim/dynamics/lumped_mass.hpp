// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Lumped masses of linear tetrahedra: m_i = Σ_{cells at i} ρ V / 4, and their derivatives by the cells' density.
class LumpedMass {
 public:
  explicit LumpedMass(const TetrahedralMesh& mesh);

  /// From density [cells], kg/m³. Throws Error for one that is not positive. Collective.
  void compute(const Field& density);
  /// dm along a direction of density.
  void compute_tangent(const Field& density_tangent);
  /// density_gradient_c += V_c/4 Σ m̄ over the cell's corners; m̄ [owned vertices, 3], summed over components. Collective.
  void add_density_gradient(const Field& mass_gradient, Field& density_gradient) const;

  const Field& mass() const { return mass_; }                  ///< [owned vertices], kg
  const Field& mass_tangent() const { return mass_tangent_; }  ///< [owned vertices], kg

 private:
  std::vector<double> at_vertices(const Field& density) const;

  const TetrahedralMesh* mesh_;
  std::vector<double> volumes_;  // [cells], m³
  Field mass_, mass_tangent_;
};

}  // namespace diffsim
