// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/model.hpp"
#include "diffsim/sensor/feedback.hpp"

namespace diffsim::sensor {

/// Implementation of `Link` that computes the values of the parameters (controls) that a Feedback sets before each
/// step.
class FeedbackLink final : public Link {
 public:
  /// Creates the link. `weights`: name of the parameter that contains the weights of the Feedback's policy.
  /// `parameters`: parameters of the Model, which include the weights and the controls of the Feedback. `dt`: length of
  /// a step (s). Throws Error (input) if the Feedback has a wrong number of inputs, outputs, offsets or scales, a scale
  /// that is zero or not finite, controls that are not parameters of the Model, or controls that do not have a single
  /// value for the whole model.
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
  /// Returns the inputs of the Feedback's policy at the state x[n] = `state`.
  std::vector<double> inputs(int n, const State& state) const;
  /// Returns the derivatives of the inputs of the Feedback's policy along the changes `tangent` of the state and
  /// `direction` of the parameters.
  std::vector<double> input_changes(int n, const State& state, const State& tangent,
                                    const ParameterSet& direction) const;
  /// Returns the policy's weights in the parameters `set`, or zeros if `set` does not contain the weights.
  std::vector<double> weights_in(const ParameterSet& set) const;
  /// Adds `values` to the policy's weights in `gradient` if this rank is the first rank and `gradient` contains the
  /// weights.
  void add_to_weights(const std::vector<double>& values, ParameterSet& gradient) const;

  Feedback feedback_;
  std::string weights_;  // name of the parameter of the weights
  double dt_;
  MPI_Comm comm_;
};

}  // namespace diffsim::sensor
