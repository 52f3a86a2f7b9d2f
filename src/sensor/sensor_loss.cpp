// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/covariance.hpp"
#include "core/squared_unit.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/sensor.hpp"

namespace diffsim {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns A x for a square matrix A [m, m].
Vector product(const Vector& A, const Vector& x) {
  const std::size_t m = x.size();
  Vector y(m, 0.0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) y[i] += A[m * i + j] * x[j];
  return y;
}

/// Returns the inverse of the rows and columns of the covariance matrix that belong to observed components, with zeros
/// in all other rows and columns. An empty `covariance` stands for the identity matrix.
Vector weights_of(const Vector& covariance, const Vector& values) {
  const std::size_t m = values.size();
  Vector result(m * m, 0.0), part;
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < m; ++i)
    if (!std::isnan(values[i])) seen.push_back(i);
  if (covariance.empty()) {
    for (const std::size_t i : seen) result[m * i + i] = 1.0;
    return result;
  }
  for (const std::size_t i : seen)
    for (const std::size_t j : seen) part.push_back(covariance[m * i + j]);
  part = inverse_of_covariance(part, seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (std::size_t j = 0; j < seen.size(); ++j) result[m * seen[i] + seen[j]] = part[seen.size() * i + j];
  return result;
}

void check_options(const SensorLossOptions& options, std::size_t m) {
  if (!(options.huber >= 0.0 && std::isfinite(options.huber)))
    throw Error("the limit of Huber's loss must be a finite number that is not negative", ErrorKind::input);
  if (options.covariance.empty()) return;
  if (options.huber > 0.0)
    throw Error("Huber's loss cannot be combined with a covariance matrix; remove one of them", ErrorKind::input);
  cholesky_of_covariance(options.covariance, m);  // throws if the matrix is not a covariance matrix
}

}  // namespace

SensorLoss::SensorLoss(std::shared_ptr<Sensor> sensor, std::map<int, std::vector<double>> observed,
                       SensorLossOptions options)
    : sensor_(std::move(sensor)), options_(std::move(options)) {
  const std::size_t m = sensor_->components().size();
  const std::string name = sensor_->name();
  check_options(options_, m);
  for (auto& [step, values] : observed) {
    if (step < 0) throw Error("step " + std::to_string(step) + " is negative; the first step is 0", ErrorKind::input);
    if (values.size() != m)
      throw Error("the " + name + " has " + std::to_string(m) + " components, but " + std::to_string(values.size()) +
                      " values are given for step " + std::to_string(step),
                  ErrorKind::input);
    if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) continue;
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isinf(value); }))
      throw Error("an observed value of the " + name + " is infinite; use NaN for values that were not observed",
                  ErrorKind::input);
    Vector weights = weights_of(options_.covariance, values);
    observed_[step] = {std::move(values), std::move(weights)};
  }
  if (observed_.empty()) throw Error("no component of the " + name + " is observed", ErrorKind::input);
}

std::string SensorLoss::unit() const { return options_.covariance.empty() ? squared_unit(sensor_->unit()) : "1"; }

bool SensorLoss::multiply(double factor) {
  factor_ *= factor;
  return true;
}

std::vector<double> SensorLoss::residual(int n, const State& state) {
  const Vector& observed = observed_.at(n).values;
  Vector r = sensor_->value(n, state);
  for (std::size_t c = 0; c < r.size(); ++c) r[c] = std::isnan(observed[c]) ? 0.0 : r[c] - observed[c];
  return r;
}

std::vector<double> SensorLoss::slope(int n, const Vector& r) const {
  Vector s = options_.huber > 0.0 ? r : product(observed_.at(n).weights, r);
  for (double& value : s) {
    if (options_.huber > 0.0) value = std::clamp(value, -options_.huber, options_.huber);
    value *= scale();
  }
  return s;
}

std::vector<double> SensorLoss::slope_change(int n, const Vector& r, const Vector& dr) const {
  Vector ds = product(observed_.at(n).weights, dr);
  for (std::size_t c = 0; c < ds.size(); ++c)
    ds[c] *= options_.huber > 0.0 && std::abs(r[c]) > options_.huber ? 0.0 : scale();
  return ds;
}

double SensorLoss::value(int n, const State& state, const ParameterSet&) {
  const Vector r = residual(n, state);
  if (!is_first_rank(sensor_->comm())) return 0.0;
  if (!(options_.huber > 0.0)) return 0.5 * dot(r, slope(n, r));
  double sum = 0.0;
  for (const double component : r) {
    const double size = std::abs(component), delta = options_.huber;
    sum += size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
  }
  return scale() * sum;
}

double SensorLoss::tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                           const ParameterSet& direction) {
  const Vector s = slope(n, residual(n, state)), dy = sensor_->tangent(n, state, tangent, direction);
  return is_first_rank(sensor_->comm()) ? dot(s, dy) : 0.0;
}

void SensorLoss::add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet& gradient) {
  sensor_->add_adjoint(n, state, slope(n, residual(n, state)), adjoint, gradient);
}

void SensorLoss::add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                                      const ParameterSet& direction, State& adjoint_tangent,
                                      ParameterSet& gradient_tangent) {
  const Vector r = residual(n, state), dy = sensor_->tangent(n, state, tangent, direction);
  sensor_->add_adjoint_tangent(n, state, tangent, direction, slope(n, r), slope_change(n, r, dy), adjoint_tangent,
                               gradient_tangent);
}

void SensorLoss::add_gauss_newton(int n, const State& state, const ParameterSet&, const State& tangent,
                                  const ParameterSet& direction, State& adjoint, ParameterSet& gradient) {
  const Vector r = residual(n, state), dy = sensor_->tangent(n, state, tangent, direction);
  sensor_->add_adjoint(n, state, slope_change(n, r, dy), adjoint, gradient);
}

}  // namespace diffsim
