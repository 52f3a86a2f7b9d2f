// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/device.hpp"
#include "diffsim/core/inertia.hpp"
#include "diffsim/core/stencil_kernels_impl.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Masses of triangles, the parameter `cloth_density` [triangles], kg/m², times their areas at rest, a third at each
/// corner (kg).
class AreaMass : public Inertia {
 public:
  explicit AreaMass(const TetrahedralMesh& mesh);

  std::string name() const override { return "mass of triangles"; }
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
  int count_;
  DeviceArray<int> corners_;  // [count, 3]
  stencil::Grouped nodes_;    // corners by vertex
};

}  // namespace diffsim
