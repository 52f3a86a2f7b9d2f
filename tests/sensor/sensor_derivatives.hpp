// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/scene.hpp"

/// Tests of all derivatives of a sensor in one state, on any number of ranks.
namespace diffsim::testing_sensor {

using Numbers = std::vector<double>;

/// Amplitudes of the directions by input: "positions", "velocities", or the name of a parameter. A difference with the
/// step h changes an input by up to 4 h times the amplitude.
using Amplitudes = std::map<std::string, double>;

class SensorRig {
 public:
  /// Tests the derivatives of `sensor` at `state`, the state after n steps. The rig changes parameters of `scene` and
  /// restores the parameters.
  SensorRig(DifferentiableScene& scene, Sensor& sensor, int n, State state)
      : scene_(&scene), sensor_(&sensor), n_(n), state_(std::move(state)) {}

  /// Checks the tangent against eighth-order differences and the adjoint against the tangent, for each input. Checks
  /// second derivatives for each input except `rest_positions` against differences of the adjoint.
  void expect_all_derivatives(const Amplitudes& amplitudes) {
    scene_->model().prepare();
    const Numbers y = sensor_->value(n_, state_);
    double size = 0.0;
    for (const double value : y) size = std::max(size, std::abs(value));
    ASSERT_GT(size, 0.0);
    const Numbers w = weights(y.size(), 0.3), dw = weights(y.size(), 1.7);
    Amplitudes smooth = amplitudes;
    smooth.erase("rest_positions");
    for (const auto& [name, amplitude] : amplitudes) {
      SCOPED_TRACE(name);
      const Amplitudes only{{name, amplitude}};
      const double difference = eighth_order(
          [&](double h) { return at(h, only, [&](const State& state) { return dot(w, sensor_->value(n_, state)); }); });
      const double slope = dot(w, tangent(only));
      EXPECT_NEAR(slope, difference, 1e-7 * (std::abs(slope) + 0.1 * size));
      EXPECT_NEAR(adjoint(state_, w, only), slope, 1e-11 * (std::abs(slope) + 0.1 * size));
      if (name == "rest_positions") continue;
      const double expected = eighth_order([&](double h) {
        Numbers moved = w;
        for (std::size_t c = 0; c < w.size(); ++c) moved[c] += h * dw[c];
        return at(h, only, [&](const State& state) { return adjoint(state, moved, smooth); });
      });
      const double second = adjoint_tangent(w, dw, only, smooth);
      EXPECT_NEAR(second, expected, 1e-6 * (std::abs(expected) + 0.1 * size));
    }
  }

 private:
  static constexpr double step = 0.01;

  static Numbers weights(std::size_t count, double phase) {
    Numbers w(count);
    for (std::size_t c = 0; c < count; ++c) w[c] = std::cos(phase + 2.3 * static_cast<double>(c));
    return w;
  }
  static double dot(const Numbers& a, const Numbers& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  static double eighth_order(const std::function<double(double)>& function) {
    constexpr double factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) sum += factors[k] / step * (function((k + 1) * step) - function(-(k + 1) * step));
    return sum;
  }
  /// Returns amplitude · noise for a field. The noise depends on the numbers of entities in the file, so copies of
  /// vertices have the same values as the owned vertices.
  static Numbers noise(const Field& field, double amplitude, unsigned seed) {
    Numbers result(field.size());
    const auto components = static_cast<std::size_t>(field.components());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::size_t entity = i / components;
      const FileOrder* const order = field.on().order();
      const double place = order ? static_cast<double>(order->file_index()[entity]) : static_cast<double>(entity);
      const auto component = static_cast<double>(i % components);
      result[i] = amplitude * std::sin(2.1 * seed + (5.7 + 0.9 * component) * place + 1.9 * component);
    }
    return result;
  }
  static bool is_state(const std::string& name) { return name == "positions" || name == "velocities"; }
  static std::vector<std::string> parameters_of(const Amplitudes& amplitudes) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : amplitudes)
      if (!is_state(name)) names.push_back(name);
    return names;
  }
  /// Direction of the state and of the parameters with the given amplitudes.
  std::pair<State, ParameterSet> direction(const Amplitudes& amplitudes) const {
    std::pair<State, ParameterSet> made{state_.zero_like(), scene_->parameters().zero_like(parameters_of(amplitudes))};
    for (const auto& [name, amplitude] : amplitudes) {
      Field& field = is_state(name) ? made.first[name] : made.second.at(name).field;
      field.from_host(noise(field, amplitude, 5));
    }
    return made;
  }
  /// Returns function(state) with all inputs moved by h along the direction, and restores the parameters.
  double at(double h, const Amplitudes& amplitudes, const std::function<double(const State&)>& function) {
    const auto [dx, dp] = direction(amplitudes);
    State moved = state_.clone();
    axpy(h, dx, moved);
    std::map<std::string, Numbers> before;
    for (const Parameter& change : dp) {
      Field& field = scene_->parameters().at(change.name()).field;
      before[change.name()] = field.to_host();
      axpy(h, change.field, field);
    }
    scene_->model().prepare();
    const double result = function(moved);
    for (const auto& [name, values] : before) scene_->parameters().at(name).field.from_host(values);
    scene_->model().prepare();
    return result;
  }
  Numbers tangent(const Amplitudes& amplitudes) {
    const auto [dx, dp] = direction(amplitudes);
    scene_->model().prepare_tangent(dp);
    return sensor_->tangent(n_, state_, dx, dp);
  }
  /// Returns the product of the direction, with the entries that this rank owns, and an adjoint, over all ranks.
  double product(const Amplitudes& amplitudes, const State& adjoint, const ParameterSet& gradient) const {
    const auto [dx, dp] = direction(amplitudes);
    double sum = local_dot(adjoint, dx);
    for (const Parameter& change : dp) sum += dot(gradient.at(change.name()).field.to_host(), change.field.to_host());
    return sum_over_ranks(sum, scene_->mesh()->comm());
  }
  double adjoint(const State& state, const Numbers& w, const Amplitudes& amplitudes) {
    State bar = state_.zero_like();
    ParameterSet gradient = scene_->parameters().zero_like(parameters_of(amplitudes));
    scene_->model().begin_adjoint(gradient);
    sensor_->add_adjoint(n_, state, w, bar, gradient);
    scene_->model().prepare_adjoint(gradient);
    return product(amplitudes, bar, gradient);
  }
  double adjoint_tangent(const Numbers& w, const Numbers& dw, const Amplitudes& along, const Amplitudes& amplitudes) {
    const auto [dx, dp] = direction(along);
    State bar = state_.zero_like(), dbar = state_.zero_like();
    const ParameterSet zeros = scene_->parameters().zero_like(parameters_of(amplitudes));
    ParameterSet gradient = scene_->parameters().zero_like(zeros.names()), change = gradient.zero_like(zeros.names());
    Model& model = scene_->model();
    model.prepare_tangent(dp);
    model.begin_adjoint(gradient);
    model.begin_adjoint_tangent(change, dp);
    sensor_->add_adjoint(n_, state_, w, bar, gradient);
    sensor_->add_adjoint_tangent(n_, state_, dx, dp, w, dw, dbar, change);
    model.prepare_adjoint_tangent(dp, change);
    return product(amplitudes, dbar, change);
  }

  DifferentiableScene* scene_;
  Sensor* sensor_;
  int n_;
  State state_;
};

}  // namespace diffsim::testing_sensor
