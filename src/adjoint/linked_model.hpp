// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/forwarding_model.hpp"

namespace diffsim {

/// Model whose step n first computes the controls u[n] = π(n, x[n], p) of all Links from the state x[n] before the
/// step, and then performs step n of another Model with these controls:
///
///   x[n+1] = step_n(x[n]; p, u[n]).
///
/// The adjoint of a step is x̄[n] = (∂step_n/∂x)ᵀ x̄[n+1] + (∂π/∂x)ᵀ ū[n] with ū[n] = (∂step_n/∂u)ᵀ x̄[n+1]. Each function
/// for a recorded step computes the controls again from the recorded state, so that memory does not grow with the
/// number of steps. The controls are zero between steps.
class LinkedModel : public ForwardingModel {
 public:
  /// Creates the Model without links; `model` must outlive this object.
  explicit LinkedModel(Model& model) : ForwardingModel(model) {}
  /// Adds a link and sets the controls of the link to zero. Throws Error (input) if a control of the link does not
  /// exist, occurs twice, is a control of another link, or cannot have a value for each step.
  void add(std::shared_ptr<Link> link);

  void prepare() override;
  /// Throws Error (input) if `direction` contains a control.
  void prepare_tangent(const ParameterSet& direction) override;
  /// Throws Error (input) if `gradient` contains a control.
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  class Controls;
  /// Returns the controls at the state x[n] of all links, or, if `tangent` is given, the derivatives of the controls
  /// along `tangent` and `direction_`.
  std::deque<ParameterSet> controls_at(int n, const State& state, const State* tangent = nullptr);
  /// Returns the adjoints ū of the controls of each link from `gradient`, summed over ranks for global controls, and
  /// sets the controls in `gradient` to zero.
  std::deque<ParameterSet> take_adjoints(ParameterSet& gradient) const;
  /// Sets the controls in `gradient` to zero. A link with a sensor of forces may add to a control although the control
  /// is constant (zero) while links are evaluated.
  void clear_controls(ParameterSet& gradient) const;
  /// Returns `names` and the names of all controls.
  std::vector<std::string> with_controls(std::vector<std::string> names) const;

  std::vector<std::shared_ptr<Link>> links_;
  ParameterSet direction_;                    // direction of the caller and, during a step, tangents of the controls
  ParameterSet gradient_, gradient_tangent_;  // sums over steps for the parameters of the caller and the controls
};

}  // namespace diffsim
