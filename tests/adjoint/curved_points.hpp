// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/moving_points.hpp"

/// Small Model and Loss with second derivatives.
namespace diffsim::testing_adjoint {

inline void add_to(Field& field, const std::vector<double>& more) {
  std::vector<double> values = field.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += more[i];
  field.from_host(values);
}

/// MovingPoints with second derivatives. For f(x) = x + h (rate sin(a x) + push), the second derivatives are
/// ∂²f/∂x² = -h rate a² sin(a x) and ∂²f/∂x∂rate = h a cos(a x).
class CurvedPoints : public MovingPoints {
 public:
  CurvedPoints() : MovingPoints(Motion{}) {}

  void begin_adjoint_tangent(const ParameterSet&, const ParameterSet&) override {}
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override {
    const double a = motion_.frequency, h = motion_.h, rate = parameters().at("rate").field.to_host()[0];
    const Parameter* const along = direction.find("rate");
    const double d_rate = along ? along->field.to_host()[0] : 0.0;
    const std::vector<double> x = record.initial()["positions"].to_host(), dx = tangent.before["positions"].to_host(),
                              lambda = pair.adjoint["positions"].to_host();
    std::vector<double> change(x.size());
    double by_rate = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mixed = h * a * std::cos(a * x[i]), curvature = -h * rate * a * a * std::sin(a * x[i]);
      change[i] = (curvature * dx[i] + mixed * d_rate) * lambda[i];
      by_rate += mixed * dx[i] * lambda[i];
    }
    // The step's adjoint is linear in the adjoint.
    step_adjoint(n, record, pair.adjoint, pair.gradient);
    step_adjoint(n, record, pair.adjoint_tangent, pair.gradient_tangent);
    add_to(pair.adjoint_tangent["positions"], change);
    if (Parameter* const sum = pair.gradient_tangent.find("rate")) add_to(sum->field, {by_rate});
  }

 private:
  Motion motion_;
};

/// Loss Σₙ ½ Σ w q² of the residuals q = ½ x² + ½ rate - 1, with the weights w, at the states 3 and N.
class CurvedLoss : public Loss {
 public:
  explicit CurvedLoss(int num_steps) : num_steps_(num_steps) {}
  static constexpr int middle = 3;
  static constexpr std::array<double, 4> weights{1.0, 0.5, 2.0, 1.5};
  static double residual(double x, double rate) { return 0.5 * x * x + 0.5 * rate - 1.0; }

  bool observes(int n) const override { return n == middle || n == num_steps_; }
  double value(int, const State& state, const ParameterSet& parameters) override {
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += 0.5 * weights[i] * std::pow(residuals(state, parameters)[i], 2);
    return sum;
  }
  double tangent(int, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override {
    const std::vector<double> q = residuals(state, parameters), dq = changes(state, tangent, direction);
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += weights[i] * q[i] * dq[i];
    return sum;
  }
  void add_gradient(int, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override {
    add_adjoint(state, residuals(state, parameters), adjoint, gradient);
  }
  void add_gradient_tangent(int, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override {
    add_adjoint(state, changes(state, tangent, direction), adjoint_tangent, gradient_tangent);
    const std::vector<double> q = residuals(state, parameters), dx = tangent["positions"].to_host();
    std::vector<double> change(4);
    for (std::size_t i = 0; i < 4; ++i) change[i] = weights[i] * q[i] * dx[i];
    add_to(adjoint_tangent["positions"], change);
  }
  void add_gauss_newton(int, const State& state, const ParameterSet&, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override {
    add_adjoint(state, changes(state, tangent, direction), adjoint, gradient);
  }

 private:
  static std::vector<double> residuals(const State& state, const ParameterSet& parameters) {
    const double rate = parameters.at("rate").field.to_host()[0];
    std::vector<double> q = state["positions"].to_host();
    for (double& value : q) value = residual(value, rate);
    return q;
  }
  static std::vector<double> changes(const State& state, const State& tangent, const ParameterSet& direction) {
    const Parameter* const rate = direction.find("rate");
    const std::vector<double> x = state["positions"].to_host();
    std::vector<double> dq = tangent["positions"].to_host();
    for (std::size_t i = 0; i < 4; ++i) dq[i] = x[i] * dq[i] + (rate ? 0.5 * rate->field.to_host()[0] : 0.0);
    return dq;
  }
  /// Adds (∂q/∂x)ᵀ W y to `adjoint` and (∂q/∂rate)ᵀ W y to `gradient`.
  static void add_adjoint(const State& state, const std::vector<double>& y, State& adjoint, ParameterSet& gradient) {
    std::vector<double> by_x = state["positions"].to_host();
    double by_rate = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      by_x[i] *= weights[i] * y[i];
      by_rate += 0.5 * weights[i] * y[i];
    }
    add_to(adjoint["positions"], by_x);
    if (Parameter* const sum = gradient.find("rate")) add_to(sum->field, {by_rate});
  }

  int num_steps_;
};

}  // namespace diffsim::testing_adjoint
