// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/lumping.hpp"

namespace diffsim {

/// Mass-proportional (Rayleigh) damping and linear drag, lumped to the vertices:
///
///   f_i = -d_i v_i,   d_i = Σ_{cells at i} share_i (α ρ + c) V
///
/// | parameter (cell)   | symbol | unit    | range                                             |
/// |--------------------|--------|---------|---------------------------------------------------|
/// | rayleigh_damping   | α      | 1/s     | ≥ 0 (Rayleigh 1877, The Theory of Sound, §102)    |
/// | drag               | c      | N s/m⁴  | ≥ 0: force over volume at rest and velocity       |
///
/// It takes `density` and `rest_positions` too.
class NodalDamping : public ForceTerm {
 public:
  explicit NodalDamping(const TetrahedralMesh& mesh);
  ~NodalDamping() override;

  std::string name() const override { return "nodal_damping"; }
  bool uses_velocities() const override { return true; }
  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;
  double energy(const Configuration& at, const ParameterSet& parameters) override;  ///< 0: there is none
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override;
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;
  void add_damping_bound(const ParameterSet& parameters, Field& damping) override;

  /// This rank's share of d, N s/m: [local vertices, 3], three times the same.
  const Field& coefficients() const { return coefficients_; }

 private:
  Lumping lumping_;
  Field per_volume_;          // α ρ + c, [cells]
  Field coefficients_;        // d
  Field tangent_, gradient_;  // of d; likewise
  Field gradient_tangent_;
  bool has_tangent_ = false, has_gradient_ = false;
};

}  // namespace diffsim
