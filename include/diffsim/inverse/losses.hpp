// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Weighted sum of losses.
class SumLoss : public Loss {
 public:
  void add(std::unique_ptr<Loss> loss, double weight = 1.0);
  /// Common unit of the losses; "1" if their units differ.
  std::string unit() const override;
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  std::vector<std::pair<std::unique_ptr<Loss>, double>> losses_;
  State scratch_;
};

/// Mean squared distance to observed positions: 1/(2 |S||V|) Σ_{n∈S} Σ_{i∈V} |x_i^n - x̂_i^n|², m². Components that are
/// not observed are NaN in x̂ and do not enter the sum. |S||V| is the number of pairs of vertex and step with at least
/// one observed component.
class TrackLoss : public Loss {
 public:
  /// Creates the loss for the observed positions `observed[n]`, [owned vertices, 3], m, of each observed step n. Only
  /// vertices of `region` enter the loss. Throws Error (input) if no component is observed. Collective.
  TrackLoss(const TetrahedralMesh& mesh, const std::map<int, std::vector<double>>& observed, const Region& region);
  std::string unit() const override { return "m²"; }
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  std::map<int, Field> observed_;
  double weight_ = 0.0;  // 1 / |S||V|
};

/// ½ |x̄ - target|², m², where x̄ is the mean position of a region's vertices at one step.
class TargetPositionLoss : public Loss {
 public:
  TargetPositionLoss(const TetrahedralMesh& mesh, const Region& region, std::array<double, 3> target, int step);
  std::string unit() const override { return "m²"; }
  bool observes(int n) const override { return n == step_; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  std::array<double, 3> mean(const Field& positions) const;

  MPI_Comm comm_;
  int rank_ = 0;
  Field weights_;  // [owned vertices]: 1/(number of the region's vertices) in the region, 0 elsewhere
  std::array<double, 3> target_;
  int step_;
};

/// Loss ⟨w, x[N]⟩ for dot-product tests. The gradient of the loss is (∂x[N]/∂u)ᵀ w. The weights w must outlive this
/// object.
class TerminalLoss : public Loss {
 public:
  TerminalLoss(const State& weights, int step) : weights_(&weights), step_(step) {}
  bool observes(int n) const override { return n == step_; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  const State* weights_;
  int step_;
};

}  // namespace diffsim
