// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

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

/// Replaces a symmetric matrix A [m, m] by its inverse, by Gauss–Jordan elimination without pivoting. Returns false if
/// a pivot is not positive; A is then not positive definite.
bool invert(Vector& A, std::size_t m) {
  for (std::size_t k = 0; k < m; ++k) {
    const double pivot = A[m * k + k];
    if (!(pivot > 0.0 && std::isfinite(pivot))) return false;
    A[m * k + k] = 1.0;
    for (std::size_t j = 0; j < m; ++j) A[m * k + j] /= pivot;
    for (std::size_t i = 0; i < m; ++i) {
      if (i == k) continue;
      const double factor = A[m * i + k];
      A[m * i + k] = 0.0;
      for (std::size_t j = 0; j < m; ++j) A[m * i + j] -= factor * A[m * k + j];
    }
  }
  return true;
}

/// Returns the inverse of the rows and columns of the covariance matrix that belong to observed components, with zeros
/// in all other rows and columns. An empty `covariance` stands for the identity matrix. Throws Error (input) if the
/// matrix is not positive definite.
Vector weights_of(const Vector& covariance, const Vector& values, const std::string& name) {
  const std::size_t m = values.size();
  Vector result(m * m, 0.0), part;
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < m; ++i)
    if (!std::isnan(values[i])) seen.push_back(i);
  for (const std::size_t i : seen)
    for (const std::size_t j : seen) part.push_back(covariance.empty() ? (i == j ? 1.0 : 0.0) : covariance[m * i + j]);
  if (!invert(part, seen.size()))
    throw Error("the covariance matrix of the " + name + " is not positive definite", ErrorKind::input);
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (std::size_t j = 0; j < seen.size(); ++j) result[m * seen[i] + seen[j]] = part[seen.size() * i + j];
  return result;
}

void check_options(const SensorLossOptions& options, std::size_t m, const std::string& name) {
  const Vector& C = options.covariance;
  if (!(options.huber >= 0.0 && std::isfinite(options.huber)))
    throw Error("the limit of Huber's loss must be a finite number that is not negative", ErrorKind::input);
  if (C.empty()) return;
  if (options.huber > 0.0)
    throw Error("Huber's loss cannot be combined with a covariance matrix; remove one of them", ErrorKind::input);
  if (C.size() != m * m)
    throw Error("the covariance matrix of the " + name + " must have " + std::to_string(m) + " rows and columns",
                ErrorKind::input);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(C[m * i + j] - C[m * j + i]) > 1e-12 * std::sqrt(std::abs(C[m * i + i] * C[m * j + j])))
        throw Error("the covariance matrix of the " + name + " is not symmetric", ErrorKind::input);
}

}  // namespace

SensorLoss::SensorLoss(std::shared_ptr<Sensor> sensor, std::map<int, std::vector<double>> observed,
                       SensorLossOptions options)
    : sensor_(std::move(sensor)), options_(std::move(options)) {
  const std::size_t m = sensor_->components().size();
  const std::string name = sensor_->name();
  check_options(options_, m, name);
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
    Vector weights = weights_of(options_.covariance, values, name);
    observed_[step] = {std::move(values), std::move(weights)};
  }
  if (observed_.empty()) throw Error("no component of the " + name + " is observed", ErrorKind::input);
}

std::string SensorLoss::unit() const {
  const std::string unit = sensor_->unit();
  if (!options_.covariance.empty() || unit == "1") return "1";
  const bool is_compound = unit.find_first_of(" /²") != std::string::npos;
  return is_compound ? "(" + unit + ")²" : unit + "²";
}

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
