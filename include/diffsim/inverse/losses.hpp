// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Weighted sum of losses.
class SumLoss : public Loss {
 public:
  /// Adds a loss, multiplied by `weight`, to the sum of losses. After a call of `add`, the caller must not use `loss`
  /// any more, because `add` may have multiplied `loss` by `weight` (`Loss::multiply`).
  void add(std::shared_ptr<Loss> loss, double weight = 1.0);
  /// Adds the negative logarithm of a likelihood, up to a constant: `weight` · ½ Σ |r|²/σ², where the sum is over the
  /// residuals r of all observations of `loss`. The added term is dimensionless. The likelihood is that of observations
  /// whose errors are independent and normally distributed, with the standard deviation σ = `deviation` in the unit of
  /// r. Throws Error (input) if `deviation` is not positive and finite.
  void add_likelihood(std::shared_ptr<Loss> loss, double deviation, double weight = 1.0);
  /// Common unit of the losses in the sum; "1" if the units of the losses differ.
  std::string unit() const override;
  /// Throws Error (input), because the losses of a sum have no common number of observations.
  double num_observations() const override;
  bool multiply(double factor) override;
  bool observes(int n) const override;
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
  /// Calls the function `add` for each loss that observes state n, and adds the derivatives that `add` computes,
  /// multiplied by the weight of the loss, to `adjoint` and `gradient`.
  void add_weighted(int n, State& adjoint, ParameterSet& gradient,
                    const std::function<void(Loss&, State&, ParameterSet&)>& add);

  struct Item {
    std::shared_ptr<Loss> loss;
    double weight;
    std::string unit;  // unit of the weighted loss
  };
  std::vector<Item> losses_;
  State scratch_;
};

/// Half the mean squared distance (m²) to observed positions x̂: 1/(2 |S||V|) Σ_{n∈S} Σ_{i∈V} |x_i^n - x̂_i^n|², where
/// x_i^n is the position of vertex i after n steps, S are the observed steps, and V are the observed vertices.
/// Components that are not observed are NaN in the observed positions x̂ and do not enter the loss. |S||V| is the
/// number of pairs (vertex, step) for which at least one component is observed.
class TrackLoss : public Loss {
 public:
  /// Creates the loss. For each observed step n, `observed[n]` contains the observed positions in m, an array [owned
  /// vertices, 3], with NaN for components that are not observed. Only vertices of `region` enter the loss. Throws
  /// Error (input) if `observed` contains no observed component of any vertex of `region`. Collective.
  TrackLoss(const TetrahedralMesh& mesh, const std::map<int, std::vector<double>>& observed, const Region& region);
  std::string unit() const override { return "m²"; }
  double num_observations() const override { return 1.0 / weight_; }
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override {
    add_gradient_tangent(n, state, parameters, tangent, direction, adjoint, gradient);
  }

 private:
  std::map<int, Field> observed_;
  double weight_ = 0.0;  // 1 / |S||V|
};

/// Loss ½ |m - target|², where m is the mean, over the vertices of a region, of a field of the state after a given
/// step, and target is a given vector.
class TargetLoss : public Loss {
 public:
  std::string unit() const override { return unit_; }
  bool observes(int n) const override { return n == step_; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override {
    add_gradient_tangent(n, state, parameters, tangent, direction, adjoint, gradient);
  }

 protected:
  /// Creates the loss for a field of the state x[step] after `step` steps. `field`: name of a field with 3 components
  /// on the local or the owned vertices. `unit`: unit of the loss.
  TargetLoss(const TetrahedralMesh& mesh, const Region& region, std::string field, std::string unit,
             std::array<double, 3> target, int step);

 private:
  std::array<double, 3> mean(const Field& values) const;

  MPI_Comm comm_;
  int rank_ = 0;
  std::string field_, unit_;
  Field weights_;  // [owned vertices]: 1/(number of the region's vertices) in the region, 0 elsewhere
  std::array<double, 3> target_;
  int step_;
};

/// Loss ½ |x̄ - target|² (m²), where x̄ is the mean position of a region's vertices after `step` steps. The unit of the
/// position `target` is m.
class TargetPositionLoss : public TargetLoss {
 public:
  /// Creates the loss for the state x[`step`] after `step` steps. Collective.
  TargetPositionLoss(const TetrahedralMesh& mesh, const Region& region, std::array<double, 3> target, int step)
      : TargetLoss(mesh, region, "positions", "m²", target, step) {}
};

/// Loss ½ |v̄ - target|² (m²/s²), where v̄ is the mean velocity of a region's vertices after `step` steps. The unit of
/// the velocity `target` is m/s.
class TargetVelocityLoss : public TargetLoss {
 public:
  /// Creates the loss for the state x[`step`] after `step` steps. Collective.
  TargetVelocityLoss(const TetrahedralMesh& mesh, const Region& region, std::array<double, 3> target, int step)
      : TargetLoss(mesh, region, "velocities", "m²/s²", target, step) {}
};

/// Effort ½ Σ_n dt |u_n|² of a global parameter over all steps n, where dt is the time step, and u_n is the parameter's
/// value in step n. The parameter of an EffortLoss has one value per step, or one value for all steps.
class EffortLoss : public Loss {
 public:
  /// Creates the loss. `dt`: time step (s). `steps`: number of steps of the rollout. `value` throws Error (input) if
  /// the model has no parameter with the name `parameter`, if this parameter is not global, or if a Link, such as a
  /// feedback controller, computes this parameter. `unit`: unit of the parameter (`ParameterSpec::unit`).
  EffortLoss(MPI_Comm comm, std::string parameter, double dt, int steps, const std::string& unit = "1");
  std::string unit() const override { return unit_; }
  bool observes(int n) const override { return n < steps_; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override {
    add_gradient_tangent(n, state, parameters, tangent, direction, adjoint, gradient);
  }

 private:
  /// Returns the components, for step n, of the parameter `parameter_` in the ParameterSet `set`.
  std::vector<double> entries(int n, const ParameterSet& set) const;
  void add(int n, const ParameterSet& from, ParameterSet& to) const;

  std::string parameter_;
  std::string unit_;
  double dt_;
  int steps_;
  bool counts_;  // true on the first rank, which returns the effort; other ranks return 0
};

/// Loss ⟨w, x[N]⟩ of the state x[N] after N = `step` steps, with the weights w, for dot-product tests. The gradient of
/// the loss ⟨w, x[N]⟩ with respect to unknowns u is (∂x[N]/∂u)ᵀ w. The State `weights` must outlive the TerminalLoss.
class TerminalLoss : public Loss {
 public:
  /// Creates the loss with the weights w = `weights`, which must have the same fields as the state.
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
