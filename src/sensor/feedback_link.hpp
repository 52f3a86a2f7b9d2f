// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/model.hpp"
#include "diffsim/sensor/feedback.hpp"

namespace diffsim::sensor {

/// Link that computes the controls of a Feedback.
class FeedbackLink final : public Link {
 public:
  /// Creates the link. `parameters`: parameters of the Model, which include the controls and the weights `weights`.
  /// `dt`: length of a step (s). Throws Error (input) if the Feedback is not consistent: wrong numbers of inputs,
  /// outputs, offsets or scales, a scale that is zero, unknown controls, or controls with values on entities.
  FeedbackLink(Feedback feedback, std::string weights, const ParameterSet& parameters, double dt);

  std::vector<std::string> controls() const override { return feedback_.controls; }
  void evaluate(int n, const State& state, const ParameterSet& parameters, ParameterSet& controls) override;
  void tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
               const ParameterSet& direction, ParameterSet& control_tangents) override;
  void add_adjoint(int n, const State& state, const ParameterSet& parameters, const ParameterSet& control_adjoints,
                   State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                           const ParameterSet& direction, const ParameterSet& control_adjoints,
                           const ParameterSet& control_adjoint_tangents, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override;

 private:
  /// Returns the inputs of the policy at the state x[n].
  std::vector<double> inputs(int n, const State& state) const;
  /// Returns the derivatives of the inputs along `tangent` and `direction`.
  std::vector<double> input_changes(int n, const State& state, const State& tangent,
                                    const ParameterSet& direction) const;
  /// Returns the weights in `set`, or zeros if the set does not contain the weights.
  std::vector<double> weights_in(const ParameterSet& set) const;
  /// Adds `values` to the weights in `gradient`, if the set contains the weights, on the first rank only.
  void add_to_weights(const std::vector<double>& values, ParameterSet& gradient) const;

  Feedback feedback_;
  std::string weights_;  // name of the parameter of the weights
  double dt_;
  MPI_Comm comm_;
};

}  // namespace diffsim::sensor
