// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

/// Small Model for tests of sweeps, gradient checks and optimisers. The Model's derivatives can be made wrong, and its
/// map rough or chaotic.
namespace diffsim::testing_adjoint {

/// Map x[n+1] = x + h (rate sin(a x) + push) with given a and h. Each rank has its own entries of x. Noise can be added
/// to the map, and errors to its derivatives.
struct Motion {
  double frequency = 1.3;
  double h = 0.1;
  double grid = 0.0;                       ///< x is rounded to multiples of `grid`, as noise
  double bias = 0.0;                       ///< added to x unless the solver is tightened: a solver's error
  std::map<std::string, double> factors;   ///< on the adjoints, by parameter; "positions": on the state's adjoint
  std::map<std::string, double> tangents;  ///< on the tangents, by parameter
};

inline double factor_of(const std::map<std::string, double>& factors, const std::string& name) {
  const auto found = factors.find(name);
  return found == factors.end() ? 1.0 : found->second;
}

class Start : public Record {
 public:
  explicit Start(State state) : state_(std::move(state)) {}
  const State& initial() const override { return state_; }
  State& state() { return state_; }

 private:
  State state_;
};

class MovingPoints : public Model {
 public:
  explicit MovingPoints(Motion motion) : motion_(std::move(motion)) {
    parameters_.add("rate", Entities::one_for_all(comm())).field.fill(0.8);
    parameters_.add("unused", Entities::one_for_all(comm())).field.fill(2.0);
    parameters_.add("push", Entities::of_process(points)).field.fill(0.3);
  }

  MPI_Comm comm() const override { return MPI_COMM_WORLD; }
  State make_state() const override {
    State state;
    state.add(Field("positions", points));
    return state;
  }
  ParameterSet& parameters() override { return parameters_; }
  void prepare() override {}
  void prepare_tangent(const ParameterSet&) override {}
  void begin_adjoint(const ParameterSet&) override {}
  void prepare_adjoint(ParameterSet&) override {}
  double solver_tolerance() const override { return motion_.bias > 0.0 ? 1e-11 : 0.0; }
  void tighten_solver(double factor) override { tightened_ = factor; }
  std::unique_ptr<Record> make_record() const override { return std::make_unique<Start>(make_state()); }
  std::size_t record_bytes() const override { return make_state().bytes(); }

  void step(int, State& state, Record* record) override {
    if (record) static_cast<Start*>(record)->state().copy_from(state);
    const double rate = parameters_.at("rate").field.to_host()[0];
    const std::vector<double> push = parameters_.at("push").field.to_host();
    std::vector<double> x = state["positions"].to_host();
    for (std::size_t i = 0; i < points; ++i) {
      const double bias = motion_.bias * tightened_ * rate * rate;
      x[i] += motion_.h * (rate * std::sin(motion_.frequency * x[i]) + push[i]) + bias;
      if (motion_.grid > 0.0) x[i] = motion_.grid * std::round(x[i] / motion_.grid);
    }
    state["positions"].from_host(x);
  }
  void step_tangent(int, const Record& record, const ParameterSet& direction, State& tangent) override {
    const double rate = parameters_.at("rate").field.to_host()[0];
    const double d_rate = of(direction, "rate", 1)[0] * factor_of(motion_.tangents, "rate");
    const std::vector<double> x = record.initial()["positions"].to_host(), d_push = of(direction, "push", points);
    std::vector<double> dx = tangent["positions"].to_host();
    for (std::size_t i = 0; i < points; ++i)
      dx[i] += motion_.h * (rate * slope(x[i]) * dx[i] + d_rate * std::sin(motion_.frequency * x[i]) +
                            factor_of(motion_.tangents, "push") * d_push[i]);
    tangent["positions"].from_host(dx);
  }
  void step_adjoint(int, const Record& record, State& adjoint, ParameterSet& gradient) override {
    const double rate = parameters_.at("rate").field.to_host()[0];
    const std::vector<double> x = record.initial()["positions"].to_host();
    std::vector<double> a = adjoint["positions"].to_host();
    double by_rate = 0.0;
    std::vector<double> by_push(points);
    for (std::size_t i = 0; i < points; ++i) {
      by_rate += motion_.h * std::sin(motion_.frequency * x[i]) * a[i] * factor_of(motion_.factors, "rate");
      by_push[i] = motion_.h * a[i] * factor_of(motion_.factors, "push");
      a[i] += motion_.h * rate * slope(x[i]) * a[i] * factor_of(motion_.factors, "positions");
    }
    adjoint["positions"].from_host(a);
    add(gradient, "rate", {by_rate});
    add(gradient, "push", by_push);
  }

 private:
  static constexpr std::size_t points = 4;

  double slope(double x) const { return motion_.frequency * std::cos(motion_.frequency * x); }
  static std::vector<double> of(const ParameterSet& set, const std::string& name, std::size_t size) {
    const Parameter* const found = set.find(name);
    return found ? found->field.to_host() : std::vector<double>(size, 0.0);
  }
  static void add(ParameterSet& gradient, const std::string& name, const std::vector<double>& more) {
    Parameter* const found = gradient.find(name);
    if (!found) return;
    std::vector<double> values = found->field.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += more[i];
    found->field.from_host(values);
  }

  Motion motion_;
  ParameterSet parameters_;
  double tightened_ = 1.0;
};

/// Loss ½ Σ (x[N] - target)².
class EndLoss : public Loss {
 public:
  explicit EndLoss(int steps, std::vector<double> target = {1.0, 1.0, 1.0, 1.0})
      : steps_(steps), target_(std::move(target)) {}
  bool observes(int n) const override { return n == steps_; }
  double value(int, const State& state, const ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += 0.5 * (x[i] - target_[i]) * (x[i] - target_[i]);
    return sum;
  }
  double tangent(int, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host(), dx = tangent["positions"].to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - target_[i]) * dx[i];
    return sum;
  }
  void add_gradient(int, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    std::vector<double> sum = adjoint["positions"].to_host();
    const std::vector<double> x = state["positions"].to_host();
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i] - target_[i];
    adjoint["positions"].from_host(sum);
  }

 private:
  int steps_;
  std::vector<double> target_;
};

}  // namespace diffsim::testing_adjoint
