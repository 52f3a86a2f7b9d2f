// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/feedback_link.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

std::size_t Feedback::num_inputs() const {
  std::size_t count = 2 * frequencies.size();
  for (const auto& sensor : sensors) count += sensor->components().size();
  return count;
}

}  // namespace diffsim

namespace diffsim::sensor {
namespace {

std::string counted(std::size_t count, const char* what) { return std::to_string(count) + " " + what; }

/// Sets the values of all parameters in `set` to `values`, component by component.
void set_values(const std::vector<double>& values, ParameterSet& set) {
  auto next = values.begin();
  for (Parameter& parameter : set) {
    const auto end = next + parameter.field.components();
    parameter.field.from_host({next, end});
    next = end;
  }
}

std::vector<double> values_of(const ParameterSet& set) {
  std::vector<double> all;
  for (const Parameter& parameter : set) {
    const std::vector<double> values = parameter.field.to_host();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace

FeedbackLink::FeedbackLink(Feedback feedback, std::string weights, const ParameterSet& parameters, double dt)
    : feedback_(std::move(feedback)),
      weights_(std::move(weights)),
      dt_(dt),
      comm_(parameters.at(weights_).on().comm()) {
  const auto fail = [&](const std::string& text) {
    throw Error("feedback '" + feedback_.name + "' " + text, ErrorKind::input);
  };
  std::size_t outputs = 0;
  for (const std::string& name : feedback_.controls) {
    const Parameter& control = parameters.at(name);
    if (!control.is_global()) fail("cannot set '" + name + "', which has several values; write a Link for it");
    outputs += static_cast<std::size_t>(control.field.components());
  }
  const Policy& policy = *feedback_.policy;
  const std::size_t count = feedback_.num_inputs();
  if (count == 0) fail("has neither sensors nor frequencies; give at least one");
  if (outputs == 0) fail("has no controls; give the name of at least one parameter");
  if (policy.num_inputs() != count)
    fail("has " + counted(count, "inputs") + ", but its policy has " + counted(policy.num_inputs(), "inputs"));
  if (policy.num_outputs() != outputs)
    fail("has controls with " + counted(outputs, "components") + ", but its policy has " +
         counted(policy.num_outputs(), "outputs"));
  const std::size_t measured = count - 2 * feedback_.frequencies.size();
  for (const auto& [values, what] : {std::pair(&feedback_.offsets, "offsets"), std::pair(&feedback_.scales, "scales")})
    if (!values->empty() && values->size() != measured)
      fail("has " + counted(values->size(), what) + " for " + counted(measured, "components of its sensors"));
  for (const double scale : feedback_.scales)
    if (scale == 0.0 || !std::isfinite(scale)) fail("has the scale " + std::to_string(scale) + "; give another number");
  feedback_.offsets.resize(measured, 0.0);
  feedback_.scales.resize(measured, 1.0);
}

std::vector<double> FeedbackLink::inputs(int n, const State& state) const {
  std::vector<double> y;
  for (const auto& sensor : feedback_.sensors)
    for (const double value : sensor->value(n, state)) {
      const std::size_t i = y.size();
      y.push_back((value - feedback_.offsets[i]) / feedback_.scales[i]);
    }
  for (const double frequency : feedback_.frequencies) {
    const double phase = 2.0 * std::numbers::pi * frequency * n * dt_;
    y.push_back(std::sin(phase));
    y.push_back(std::cos(phase));
  }
  return y;
}

std::vector<double> FeedbackLink::input_changes(int n, const State& state, const State& tangent,
                                                const ParameterSet& direction) const {
  std::vector<double> dy;
  for (const auto& sensor : feedback_.sensors)
    for (const double change : sensor->tangent(n, state, tangent, direction)) {
      const double scale = feedback_.scales[dy.size()];
      dy.push_back(change / scale);
    }
  dy.resize(dy.size() + 2 * feedback_.frequencies.size(), 0.0);
  return dy;
}

std::vector<double> FeedbackLink::weights_in(const ParameterSet& set) const {
  const Parameter* const weights = set.find(weights_);
  return weights ? weights->field.to_host() : std::vector<double>(feedback_.policy->num_weights(), 0.0);
}

void FeedbackLink::add_to_weights(const std::vector<double>& values, ParameterSet& gradient) const {
  Parameter* const weights = gradient.find(weights_);
  if (weights && is_first_rank(comm_)) add_to_entries(weights->field, 0, values);
}

void FeedbackLink::evaluate(int n, const State& state, const ParameterSet& parameters, ParameterSet& controls) {
  set_values(feedback_.policy->evaluate(inputs(n, state), weights_in(parameters)), controls);
}

void FeedbackLink::tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                           const ParameterSet& direction, ParameterSet& control_tangents) {
  set_values(feedback_.policy->tangent(inputs(n, state), weights_in(parameters),
                                       input_changes(n, state, tangent, direction), weights_in(direction)),
             control_tangents);
}

void FeedbackLink::add_adjoint(int n, const State& state, const ParameterSet& parameters,
                               const ParameterSet& control_adjoints, State& adjoint, ParameterSet& gradient) {
  const std::vector<double> y = inputs(n, state), theta = weights_in(parameters), w = values_of(control_adjoints);
  std::vector<double> by_y(y.size(), 0.0), by_theta(theta.size(), 0.0);
  feedback_.policy->add_adjoint(y, theta, w, by_y, by_theta);
  add_to_weights(by_theta, gradient);
  std::size_t i = 0;
  for (const auto& sensor : feedback_.sensors) {
    std::vector<double> weights(sensor->components().size());
    for (double& weight : weights) {
      weight = by_y[i] / feedback_.scales[i];
      ++i;
    }
    sensor->add_adjoint(n, state, weights, adjoint, gradient);
  }
}

void FeedbackLink::add_adjoint_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                       const ParameterSet& direction, const ParameterSet& control_adjoints,
                                       const ParameterSet& control_adjoint_tangents, State& adjoint_tangent,
                                       ParameterSet& gradient_tangent) {
  const std::vector<double> y = inputs(n, state), theta = weights_in(parameters), w = values_of(control_adjoints),
                            dw = values_of(control_adjoint_tangents), dy = input_changes(n, state, tangent, direction),
                            dtheta = weights_in(direction);
  std::vector<double> by_y(y.size(), 0.0), by_y_tangent(y.size(), 0.0), by_theta(theta.size(), 0.0),
      by_theta_tangent(theta.size(), 0.0);
  feedback_.policy->add_adjoint(y, theta, w, by_y, by_theta);
  feedback_.policy->add_adjoint_tangent(y, theta, dy, dtheta, w, dw, by_y_tangent, by_theta_tangent);
  add_to_weights(by_theta_tangent, gradient_tangent);
  std::size_t i = 0;
  for (const auto& sensor : feedback_.sensors) {
    std::vector<double> weights(sensor->components().size()), changes(weights.size());
    for (std::size_t c = 0; c < weights.size(); ++c, ++i) {
      weights[c] = by_y[i] / feedback_.scales[i];
      changes[c] = by_y_tangent[i] / feedback_.scales[i];
    }
    sensor->add_adjoint_tangent(n, state, tangent, direction, weights, changes, adjoint_tangent, gradient_tangent);
  }
}

}  // namespace diffsim::sensor
