// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/minimise.hpp"
#include "inverse/shooting_model.hpp"

namespace diffsim::inverse {
namespace {

void check(const InverseProblem& problem, const OptimiserOptions& options) {
  const ShootingOptions& shooting = options.shooting;
  if (options.method != Optimiser::newton_cg)
    throw Error(std::string("the method ") + optimisers[static_cast<std::size_t>(options.method)] +
                    " does not support multiple shooting; use newton_cg",
                ErrorKind::input);
  if (shooting.windows < 2 || shooting.windows > problem.num_steps())
    throw Error("a rollout of " + std::to_string(problem.num_steps()) + " steps cannot be divided into " +
                    std::to_string(shooting.windows) + " windows; give a number from 2 to the number of steps",
                ErrorKind::input);
  if (!(shooting.tolerance > 0.0 && shooting.duration > 0.0) || shooting.rounds < 1)
    throw Error("multiple shooting needs a tolerance and a duration above 0, and at least one round", ErrorKind::input);
}

std::vector<int> starts_of(int num_steps, int windows) {
  std::vector<int> starts;
  for (int w = 1; w < windows; ++w)
    starts.push_back(static_cast<int>(static_cast<std::int64_t>(num_steps) * w / windows));
  return starts;
}

/// Weights c_f = s_f²/(N (W - 1)) for N entities and W windows, with s_f = `duration` for velocities, else 1.
std::map<std::string, double> weights_of(const State& state, const ShootingOptions& shooting, MPI_Comm comm) {
  std::map<std::string, double> weights;
  for (const Field& field : state.fields()) {
    if (field.on().is_one_for_all()) continue;
    const double number = sum_over_ranks(static_cast<double>(field.owned()), comm) * (shooting.windows - 1);
    const double scale = field.name() == "velocities" ? shooting.duration : 1.0;
    weights[field.name()] = scale * scale / std::max(number, 1.0);
  }
  return weights;
}

/// Problem of the windows, which has the unknowns of another problem, followed by the states at the starts of windows.
class Windows {
 public:
  Windows(InverseProblem& problem, const ShootingOptions& shooting)
      : problem_(problem),
        model_(problem.model(), starts_of(problem.num_steps(), shooting.windows)),
        weights_(weights_of(problem.initial(), shooting, problem.comm())),
        loss_(problem.loss(), model_, weights_) {
    std::vector<Unknown> states;
    for (const std::string& field : model_.fields()) states.push_back({.parameter = model_.parameter_of(field)});
    windows_ = problem.with_model(model_, loss_, states);
    windows_->locate_values_not_finite(false);
  }

  /// Returns u for the windows, with the states of the rollout at `u`, and sets the scales of loss and motion.
  std::vector<double> start(const std::vector<double>& u) {
    problem_.set(u);
    problem_.model().prepare();
    State state = problem_.initial().clone();
    const State first = state.clone();
    ParameterSet& parameters = model_.parameters();
    std::vector<std::string> names;
    for (const std::string& field : model_.fields()) {
      names.push_back(model_.parameter_of(field));
      parameters.at(names.back()).field.fill(0.0);
    }
    double motion = 0.0;
    const double loss =
        rollout(problem_.model(), state, problem_.num_steps(), &problem_.loss(), [&](int n, const State& at) {
          if (const auto window = model_.window_at(n)) motion += keep(*window, at, first);
        });
    motion_ = sum_over_ranks(motion, problem_.comm());
    if (motion_ == 0.0) motion_ = 1.0;
    penalty_ = (loss > 0.0 ? loss : 1.0) / motion_;
    loss_.set_penalty(penalty_);
    std::vector<double> all = windows_->start();
    std::copy(u.begin(), u.end(), all.begin());
    return all;
  }
  /// Returns the root mean square of the jumps at u, relative to the motion.
  double jumps(const std::vector<double>& u) {
    windows_->value(u);
    return std::sqrt(loss_.squared_defects() / motion_);
  }
  /// Jumps of the last evaluation.
  double last_jumps() const { return std::sqrt(loss_.squared_defects() / motion_); }
  void update_multipliers() { loss_.update_multipliers(); }
  void raise_penalty() { loss_.set_penalty(penalty_ *= 10.0); }
  InverseProblem& problem() { return *windows_; }

 private:
  /// Keeps the state at the start of a window. Returns this rank's part of the squared distance from the first state.
  double keep(std::size_t window, const State& at, const State& first) {
    double sum = 0.0;
    for (const std::string& name : model_.fields()) {
      std::vector<double> values = at[name].to_host(), from = first[name].to_host();
      values.resize(at[name].owned_size());
      model_.add_to_start(model_.parameters(), name, window, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        sum += weights_.at(name) * (values[i] - from[i]) * (values[i] - from[i]);
    }
    return sum;
  }

  InverseProblem& problem_;
  ShootingModel model_;
  std::map<std::string, double> weights_;
  ShootingLoss loss_;
  std::unique_ptr<InverseProblem> windows_;
  double motion_ = 1.0, penalty_ = 1.0;
};

/// Minimises the loss of one rollout from the point `options.start`. `first_norm`: norm of the projected gradient at
/// the start of the optimisation, to which the tolerance refers.
OptimiserResult minimise_one_rollout(InverseProblem& problem, OptimiserOptions options, double first_norm,
                                     const IterateObserver& observer) {
  OptimiserResult result;
  result.u = *options.start;
  result.evaluations = 1;
  std::vector<double> g;
  result.loss = problem.gradient(result.u, g);
  result.gradient_norm = projected_norm(problem, result.u, g);
  if (result.gradient_norm > options.gradient_tolerance * first_norm) {
    options.gradient_tolerance *= first_norm / result.gradient_norm;
    return optimise(problem, options, observer);
  }
  result.converged = true;
  result.reason = "gradient below tolerance";
  if (observer) observer({1, result.loss, result.gradient_norm, 0.0, result.evaluations, &result.u});
  result.iterations = 1;
  return result;
}

/// Adds the counts of a minimisation to those of the result.
void add_counts(const OptimiserResult& more, OptimiserResult& result) {
  result.iterations += more.iterations;
  result.evaluations += more.evaluations;
  result.hessian_products += more.hessian_products;
}

}  // namespace

OptimiserResult minimise_by_shooting(InverseProblem& problem, const OptimiserOptions& options,
                                     const IterateObserver& observer) {
  check(problem, options);
  OptimiserOptions inner = options;
  inner.shooting = {};
  OptimiserResult counts;
  double jumps = 0.0;
  // The observer receives the unknowns of the problem, and iterations of all minimisations.
  const auto observe = [&](const Windows* windows) -> IterateObserver {
    if (!observer) return {};
    return [&, windows](const Iterate& iterate) {
      if (iterate.iteration == 0 && counts.evaluations > 0) return;
      const std::vector<double> u(iterate.u->begin(), iterate.u->begin() + static_cast<std::ptrdiff_t>(problem.size()));
      Iterate told = iterate;
      told.iteration += counts.iterations;
      told.evaluations += counts.evaluations;
      told.violation = windows ? windows->last_jumps() : 0.0;
      told.u = &u;
      observer(told);
    };
  };
  std::vector<double> u = start_of(problem, options), g;
  problem.gradient(u, g);
  problem.locate_values_not_finite(false);
  const double first_norm = projected_norm(problem, u, g);
  {
    Windows windows(problem, options.shooting);
    inner.start = windows.start(u);
    for (int round = 0; round < options.shooting.rounds; ++round) {
      const GaussNewtonScope scope(windows.problem(), options.gauss_newton);
      const OptimiserResult found = minimise_by_tao(windows.problem(), inner, observe(&windows), true);
      add_counts(found, counts);
      inner.start = found.u;
      const double before = jumps;
      jumps = windows.jumps(found.u);
      if (jumps <= options.shooting.tolerance) break;
      windows.update_multipliers();
      if (round > 0 && jumps > 0.25 * before) windows.raise_penalty();
    }
    u.assign(inner.start->begin(), inner.start->begin() + static_cast<std::ptrdiff_t>(u.size()));
  }
  inner.start = u;
  OptimiserResult result = minimise_one_rollout(problem, inner, first_norm, observe(nullptr));
  add_counts(counts, result);
  result.violation = jumps;
  return result;
}

}  // namespace diffsim::inverse
