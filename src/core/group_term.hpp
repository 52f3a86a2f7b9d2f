// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Force term of a GroupForce.
class GroupTerm final : public ForceTerm {
 public:
  /// `vertices`: local vertices of the groups of this rank, [groups, k]. Each group must be on exactly one rank.
  GroupTerm(std::unique_ptr<GroupForce> force, std::vector<int> vertices, int k);
  ~GroupTerm() override;

  std::string name() const override { return force_->name(); }
  bool uses_velocities() const override { return force_->uses_velocities(); }
  bool has_energy() const override { return force_->has_energy(); }
  bool has_symmetric_jacobian() const override { return force_->has_energy(); }
  bool holds_body() const override { return true; }

  double energy(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  /// Throws Error (input) for a parameter of the force that does not exist, or that has several values.
  void prepare(const ParameterSet& parameters) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  void add_couplings(const Configuration&, Couplings& couplings) override;
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;
  /// Adds the Frobenius norms of the Jacobians in the rest configuration.
  void add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) override;
  void add_damping_bound(const ParameterSet& parameters, Field& damping) override;

 private:
  std::size_t num_groups() const { return vertices_.size() / static_cast<std::size_t>(k_); }
  /// Returns the values of `field`, [local vertices, 3], at the vertices of the groups.
  std::vector<double> gather(const Field& field) const;
  /// Adds values at the vertices of the groups to `field`.
  void scatter(const std::vector<double>& values, Field& field) const;
  GroupValues values(const Configuration& at, const ParameterSet& parameters) const;
  GroupValues change(const ConfigurationTangent& tangent, const ParameterSet& direction) const;
  std::vector<std::vector<double>> parameters_in(const ParameterSet& set) const;
  void add_bound(const ParameterSet& parameters, std::vector<double> GroupForce::Jacobians::*jacobian, Field& bound);

  std::unique_ptr<GroupForce> force_;
  std::vector<int> vertices_;
  int k_;
  const ParameterSet* parameters_ = nullptr;  // ParameterSet of the last `prepare`
};

}  // namespace diffsim
