// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/sensor.hpp"

namespace diffsim {

SensorValueLoss::SensorValueLoss(std::shared_ptr<Sensor> sensor, std::vector<double> weights, std::vector<int> steps,
                                 std::optional<double> power)
    : sensor_(std::move(sensor)), weights_(std::move(weights)), steps_(std::move(steps)), power_(power) {
  const std::size_t m = sensor_->components().size();
  if (weights_.size() != m)
    throw Error("the " + sensor_->name() + " has " + std::to_string(m) + " components, but " +
                    std::to_string(weights_.size()) + " weights are given",
                ErrorKind::input);
  if (power_ && !(*power_ >= 2.0 && std::isfinite(*power_)))
    throw Error("the power of a mean is " + std::to_string(*power_) + "; give a number of at least 2",
                ErrorKind::input);
  std::sort(steps_.begin(), steps_.end());
  if (steps_.empty() || steps_.front() < 0 || std::adjacent_find(steps_.begin(), steps_.end()) != steps_.end())
    throw Error("the value of the " + sensor_->name() + " needs different steps, which are not negative",
                ErrorKind::input);
  for (double& weight : weights_) weight /= num_observations();
}

std::string SensorValueLoss::unit() const {
  const std::string unit = sensor_->unit();
  if (!power_ || unit == "1") return unit;
  const bool is_integer = *power_ == std::floor(*power_);
  return "(" + unit + ")^" + (is_integer ? std::to_string(static_cast<long>(*power_)) : std::to_string(*power_));
}

bool SensorValueLoss::multiply(double factor) {
  for (double& weight : weights_) weight *= factor;
  return true;
}

bool SensorValueLoss::observes(int n) const { return std::binary_search(steps_.begin(), steps_.end(), n); }

std::vector<double> SensorValueLoss::slope(const std::vector<double>& y) const {
  std::vector<double> result = weights_;
  if (power_)
    for (std::size_t c = 0; c < y.size(); ++c)
      result[c] *= *power_ * std::copysign(std::pow(std::abs(y[c]), *power_ - 1.0), y[c]);
  return result;
}

std::vector<double> SensorValueLoss::slope_change(const std::vector<double>& y, const std::vector<double>& dy) const {
  std::vector<double> result(y.size(), 0.0);
  if (power_)
    for (std::size_t c = 0; c < y.size(); ++c)
      result[c] = weights_[c] * *power_ * (*power_ - 1.0) * std::pow(std::abs(y[c]), *power_ - 2.0) * dy[c];
  return result;
}

double SensorValueLoss::value(int n, const State& state, const ParameterSet&) {
  const std::vector<double> y = sensor_->value(n, state);
  if (!is_first_rank(sensor_->comm())) return 0.0;
  double sum = 0.0;
  for (std::size_t c = 0; c < y.size(); ++c) sum += weights_[c] * (power_ ? std::pow(std::abs(y[c]), *power_) : y[c]);
  return sum;
}

double SensorValueLoss::tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                                const ParameterSet& direction) {
  const std::vector<double> by_y = slope(sensor_->value(n, state)), dy = sensor_->tangent(n, state, tangent, direction);
  if (!is_first_rank(sensor_->comm())) return 0.0;
  double sum = 0.0;
  for (std::size_t c = 0; c < dy.size(); ++c) sum += by_y[c] * dy[c];
  return sum;
}

void SensorValueLoss::add_gradient(int n, const State& state, const ParameterSet&, State& adjoint,
                                   ParameterSet& gradient) {
  sensor_->add_adjoint(n, state, slope(sensor_->value(n, state)), adjoint, gradient);
}

void SensorValueLoss::add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                                           const ParameterSet& direction, State& adjoint_tangent,
                                           ParameterSet& gradient_tangent) {
  const std::vector<double> y = sensor_->value(n, state), dy = sensor_->tangent(n, state, tangent, direction);
  sensor_->add_adjoint_tangent(n, state, tangent, direction, slope(y), slope_change(y, dy), adjoint_tangent,
                               gradient_tangent);
}

}  // namespace diffsim
