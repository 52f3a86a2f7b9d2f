// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/force_term.hpp"
#include "diffsim/load/parameters.hpp"

namespace diffsim {

/// Dead forces on vertices: f_i = p_i. Parameter `nodal_load` [steps, owned vertices, 3], N.
class NodalLoad : public ForceTerm {
 public:
  std::string name() const override { return std::string(LoadParameters::nodal_load.name); }
  /// -Σ p · x.
  double energy(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet&, const ParameterSet&) override {}
  /// The force is linear in the load and depends on nothing else that moves.
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  void add_jacobian(const Configuration&, const ParameterSet&, const JacobianWeights&, BlockMatrix&) override {}
};

}  // namespace diffsim
