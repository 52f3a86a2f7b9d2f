// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/forwarding_model.hpp"

namespace diffsim {

/// Model with Links. A Link is a function that computes the values of some parameters, the controls, from the state
/// before each step. Step n of a LinkedModel first computes the controls u[n] = π(n, x[n], p) of all Links from the
/// state x[n] before the step and the parameters p, and then the state x[n+1] = step_n(x[n]; p, u[n]) by step n of
/// another Model.
///
/// The adjoint of step n computes x̄[n] = (∂step_n/∂x)ᵀ x̄[n+1] + (∂π/∂x)ᵀ ū[n] with ū[n] = (∂step_n/∂u)ᵀ x̄[n+1].
/// Here, x̄ are the adjoints of states, ū are the adjoints of the controls u, step_n is the function of step n, and π
/// is the function that computes the controls. The tangent and the adjoint of a step compute the controls again from
/// the recorded state, so controls of earlier steps need no memory. Except during a step and during the tangent or the
/// adjoint of a step, the controls of all Links are zero.
class LinkedModel : public ForwardingModel {
 public:
  /// Creates a LinkedModel without Links; `model` must outlive the LinkedModel.
  explicit LinkedModel(Model& model) : ForwardingModel(model) {}
  /// Adds a Link and sets the controls of the Link to zero. Throws Error (input) if a control of the Link is not a
  /// parameter of the wrapped Model, occurs twice, is a control of another Link, or cannot have a value for each step
  /// (`ParameterSpec::by_step`).
  void add(std::shared_ptr<Link> link);

  void prepare() override;
  /// Throws Error (input) if the parameter change `direction` contains a control of a Link.
  void prepare_tangent(const ParameterSet& direction) override;
  /// Throws Error (input) if the ParameterSet `gradient` contains a control of a Link.
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
  /// Returns the controls of all Links at the state x[n], one ParameterSet per Link. If `tangent` is not nullptr,
  /// returns the derivatives of the controls along the change `tangent` of the state and the change `direction_` of the
  /// parameters, instead of the controls.
  std::deque<ParameterSet> controls_at(int n, const State& state, const State* tangent = nullptr);
  /// Copies the adjoints ū of the controls from `gradient`, sums the adjoints of controls with one global value over
  /// the ranks, and returns the adjoints, one ParameterSet per Link. Zeroes the entries of `gradient` that belong to
  /// controls.
  std::deque<ParameterSet> take_adjoints(ParameterSet& gradient) const;
  /// Zeroes the entries of `gradient` that belong to controls. `clear_controls` is called after `Link::add_adjoint`,
  /// because a Link that reads a force sensor may add to `gradient` the derivative of the sensor with respect to a
  /// control. While Links are evaluated, the controls are constant (zero), so derivatives of sensors with respect to
  /// controls are not part of the gradient.
  void clear_controls(ParameterSet& gradient) const;
  /// Returns `names`, followed by the names of the controls of all Links.
  std::vector<std::string> with_controls(std::vector<std::string> names) const;

  std::vector<std::shared_ptr<Link>> links_;
  ParameterSet direction_;                    // direction of the caller and, during a step, tangents of the controls
  ParameterSet gradient_, gradient_tangent_;  // sums over steps for the parameters of the caller and the controls
};

}  // namespace diffsim
