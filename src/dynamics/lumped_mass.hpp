// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/inertia.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/lumping.hpp"

namespace diffsim {

/// Lumped masses of cells, m_i = Σ s_i ρ V, summed over the cells at vertex i, where ρ is the density of a cell, V is
/// the rest volume that a cell represents (TetrahedralMesh::volume_factors), and s_i is the fraction of the cell's mass
/// that is lumped at vertex i (mesh/lumping.hpp). Provides derivatives with respect to the parameters `density` ρ
/// [cells] (kg/m³) and `rest_positions` [local vertices, 3] (m).
class LumpedMass : public Inertia {
 public:
  explicit LumpedMass(const TetrahedralMesh& mesh);

  std::string name() const override { return "mass of cells"; }
  bool depends_on(const ParameterSet& set) const override;
  void add_mass(const ParameterSet& parameters, Field& mass) const override;
  void add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                        Field& mass_tangent) const override;
  void add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                        ParameterSet& gradient) const override;
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                ParameterSet& gradient_tangent) const override;

 private:
  const TetrahedralMesh* mesh_;
  Lumping lumping_;
};

}  // namespace diffsim
