// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/inertia.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/lumping.hpp"

namespace diffsim {

/// Lumped masses of cells. The mass of vertex i is m_i = Σ_c s_ci ρ_c V_c, summed over the cells c at vertex i, where
/// ρ_c is the density of cell c, V_c is the rest volume that cell c represents (TetrahedralMesh::volume_factors), and
/// s_ci is the fraction of the mass of cell c that is lumped at vertex i (mesh/lumping.hpp). LumpedMass also provides
/// the derivatives of the masses with respect to the parameters `density` ρ [cells] (kg/m³) and `rest_positions` [local
/// vertices, 3] (m).
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
