// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>

#include "diffsim/body/joint.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Loss ½ Σ_n (q_n - target_n)² / N (rad² or m²) over the N observed steps n, where q_n is the coordinate of a revolute
/// or prismatic joint (see JointDrive) after n steps. For revolute joints, the difference q_n - target_n is reduced
/// modulo 2π to (-π, π].
class JointLoss : public Loss {
 public:
  /// `targets`: target of each observed step (rad or m). Throws Error (input) if the joint is neither revolute nor
  /// prismatic, or if `targets` is empty. Collective.
  JointLoss(const TetrahedralMesh& mesh, const Joint& joint, std::map<int, double> targets);
  ~JointLoss() override;
  std::string unit() const override;
  double num_observations() const override { return static_cast<double>(targets_.size()); }
  bool observes(int n) const override { return targets_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override;

 private:
  struct Nodes;
  MPI_Comm comm_;
  std::map<int, double> targets_;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace diffsim
