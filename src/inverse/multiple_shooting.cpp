// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/minimise.hpp"
#include "inverse/process_groups.hpp"
#include "inverse/shooting_model.hpp"

namespace diffsim::inverse {
namespace {

void check(const InverseProblem& problem, const OptimiserOptions& options) {
  const ShootingOptions& shooting = options.shooting;
  if (options.method != Optimiser::newton_cg)
    throw Error(std::string("the method ") + optimisers[static_cast<std::size_t>(options.method)] +
                    " does not support multiple shooting; use newton_cg",
                ErrorKind::input);
  if (problem.has_experiments())
    throw Error("multiple shooting is not available for a problem with several experiments", ErrorKind::input);
  if (problem.groups() && problem.groups()->count() > shooting.windows)
    throw Error("there are more groups of processes than windows", ErrorKind::input);
  if (shooting.windows < 2 || shooting.windows > problem.num_steps())
    throw Error("a rollout of " + std::to_string(problem.num_steps()) + " steps cannot be divided into " +
                    std::to_string(shooting.windows) + " windows; give a number from 2 to the number of steps",
                ErrorKind::input);
  if (!(shooting.tolerance > 0.0 && shooting.duration > 0.0) || shooting.rounds < 1)
    throw Error("multiple shooting needs a tolerance and a duration above 0, and at least one round", ErrorKind::input);
}

/// Returns the first step of a window, or for `window` = `windows` the number of steps of the rollout.
int first_step_of(int window, const InverseProblem& problem, int windows) {
  return static_cast<int>(static_cast<std::int64_t>(problem.num_steps()) * window / windows);
}

/// Returns the first steps of all windows after the first.
std::vector<int> starts_of(const InverseProblem& problem, int windows) {
  std::vector<int> starts;
  for (int w = 1; w < windows; ++w) starts.push_back(first_step_of(w, problem, windows));
  return starts;
}

/// Steps `first` to `end` - 1.
struct Steps {
  int first, end;
};

/// Returns the steps of the windows of this process's group. Each group has consecutive windows; the numbers of windows
/// of two groups differ by at most one.
Steps steps_of_group(const InverseProblem& problem, int windows) {
  const ProcessGroups* const groups = problem.groups();
  if (!groups) return {0, problem.num_steps()};
  const int number = groups->numbers().front(), count = groups->count();
  const auto window = [&](int group) { return static_cast<int>(static_cast<std::int64_t>(windows) * group / count); };
  return {first_step_of(window(number), problem, windows), first_step_of(window(number + 1), problem, windows)};
}

/// Unknown of a field of the start state of a window. `is_shared`: true if all ranks share the values, so that the
/// vector of unknowns does not depend on the distribution of the mesh over the ranks of a group.
Unknown unknown_of(const Field& field, std::size_t window, bool is_shared, MPI_Comm comm) {
  Unknown unknown{.parameter = ShootingModel::parameter_of(field.name(), window)};
  if (!is_shared || field.on().is_one_for_all()) return unknown;
  const FileOrder* const order = field.on().order();
  if (!order && num_ranks(comm) > 1)
    throw Error("the entities of '" + field.name() + "' have no order in files, so a group can have one rank only",
                ErrorKind::input);
  for (std::size_t i = 0; i < field.owned(); ++i)
    unknown.group.push_back(static_cast<int>(order ? order->file_index()[i] : static_cast<PetscInt>(i)));
  std::int64_t total = static_cast<std::int64_t>(field.owned());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm));
  unknown.group_names.assign(static_cast<std::size_t>(total), "");
  return unknown;
}

/// Scale s_f of a field: T for velocities, T² for accelerations and auxiliary accelerations, with T = `duration`;
/// else 1.
double scale_of(const std::string& field, double duration) {
  if (field == "velocities" || field == "previous_velocities") return duration;
  return field.ends_with("accelerations") ? duration * duration : 1.0;
}

/// Weights c_f = s_f²/(N (W - 1)) for N entities and W windows.
std::map<std::string, double> weights_of(const State& state, const ShootingOptions& shooting, MPI_Comm comm) {
  std::map<std::string, double> weights;
  for (const Field& field : state.fields()) {
    const double number = sum_over_ranks(static_cast<double>(field.owned()), comm) * (shooting.windows - 1);
    const double scale = scale_of(field.name(), shooting.duration);
    weights[field.name()] = scale * scale / std::max(number, 1.0);
  }
  return weights;
}

/// Problem of the windows, which has the unknowns of another problem, followed by the states at the starts of windows.
class Windows {
 public:
  Windows(InverseProblem& problem, const ShootingOptions& shooting)
      : problem_(problem),
        groups_(problem.groups()),
        steps_(steps_of_group(problem, shooting.windows)),
        model_(problem.model(), starts_of(problem, shooting.windows),
               groups_ ? std::optional<int>(steps_.first) : std::nullopt),
        weights_(weights_of(problem.initial(), shooting, problem.comm())),
        loss_(problem.loss(), model_, weights_) {
    std::vector<Unknown> states;
    const auto add_states = [&] {
      for (std::size_t window = 0; window < model_.num_starts(); ++window)
        for (const std::string& field : model_.fields())
          states.push_back(unknown_of(problem.initial()[field], window, groups_ != nullptr, problem.comm()));
    };
    if (groups_)
      groups_->agree(add_states);
    else
      add_states();
    windows_ = problem.with_model(model_, loss_, states, steps_.end - steps_.first);
    windows_->locate_values_not_finite(false);
  }

  /// Returns u for the windows, with the states of the rollout at `u`, and sets the scales of loss and motion.
  std::vector<double> start(const std::vector<double>& u) {
    problem_.set(u);
    double loss = 0.0;
    if (groups_)
      groups_->agree([&] { loss = roll_out(); });
    else
      loss = roll_out();
    if (motion_ == 0.0) motion_ = 1.0;
    penalty_ = (loss > 0.0 ? loss : 1.0) / motion_;
    if (groups_) {
      motion_ = groups_->of_first(motion_);
      penalty_ = groups_->of_first(penalty_);
    }
    loss_.set_penalty(penalty_);
    std::vector<double> all = windows_->start();
    std::copy(u.begin(), u.end(), all.begin());
    return all;
  }
  /// Returns the root mean square of the jumps at u, relative to the motion.
  double jumps(const std::vector<double>& u) {
    windows_->value(u);
    return last_jumps();
  }
  /// Jumps of the last evaluation.
  double last_jumps() const {
    const double squared = loss_.squared_defects();
    return std::sqrt((groups_ ? groups_->sum(squared) : squared) / motion_);
  }
  void update_multipliers() { loss_.update_multipliers(); }
  void raise_penalty() { loss_.set_penalty(penalty_ *= 10.0); }
  InverseProblem& problem() { return *windows_; }

 private:
  /// Performs the rollout for the present parameters, keeps the states at the starts of windows, and sets `motion_`.
  /// Returns the loss.
  double roll_out() {
    Model& model = problem_.model();
    model.prepare();
    State state = problem_.initial().clone();
    const State first = state.clone();
    motion_ = 0.0;
    const double loss = rollout(model, state, problem_.num_steps(), &problem_.loss(), [&](int n, const State& at) {
      if (const auto window = model_.window_at(n - steps_.first)) motion_ += keep(*window, at, first);
    });
    motion_ = sum_over_ranks(motion_, problem_.comm());
    return loss;
  }
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
  const ProcessGroups* groups_;  // nullptr if there is one group
  Steps steps_;                  // steps of this group's windows
  ShootingModel model_;
  std::map<std::string, double> weights_;
  ShootingLoss loss_;
  std::unique_ptr<InverseProblem> windows_;
  double motion_ = 1.0, penalty_ = 1.0;
};

/// Optimisation in several minimisations. The observer receives the unknowns of the problem, and the numbers of
/// iterations and evaluations of all minimisations.
class Progress {
 public:
  Progress(const InverseProblem& problem, const IterateObserver& observer) : problem_(problem), observer_(observer) {}

  /// Reports a point of one rollout, as an iteration of its own.
  void tell(const std::vector<double>& u, double loss, double norm) {
    ++evaluations;
    if (observer_) observer_({iterations, loss, norm, 0.0, evaluations, &u});
    ++iterations;
  }
  /// Returns the observer of a minimisation whose start has already been reported.
  IterateObserver observer(const Windows* windows) const {
    if (!observer_) return {};
    return [this, windows](const Iterate& iterate) {
      if (iterate.iteration == 0) return;
      const std::vector<double> u(iterate.u->begin(),
                                  iterate.u->begin() + static_cast<std::ptrdiff_t>(problem_.size()));
      Iterate told = iterate;
      told.iteration += iterations - 1;
      told.evaluations += evaluations;
      told.violation = windows ? windows->last_jumps() : 0.0;
      told.u = &u;
      observer_(told);
    };
  }
  void add(const OptimiserResult& minimisation) {
    iterations += minimisation.iterations;
    evaluations += minimisation.evaluations;
    hessian_products += minimisation.hessian_products;
  }

  int iterations = 0;
  long evaluations = 0, hessian_products = 0;

 private:
  const InverseProblem& problem_;
  const IterateObserver& observer_;
};

/// Minimises the loss of one rollout from the point `options.start`. `first_norm`: norm of the projected gradient at
/// the start of the optimisation, to which the tolerance refers. If the rollout fails at the start point, the result is
/// this point.
OptimiserResult minimise_one_rollout(InverseProblem& problem, OptimiserOptions options, double first_norm,
                                     Progress& progress) {
  OptimiserResult result;
  result.u = *options.start;
  std::vector<double> g;
  try {
    result.loss = problem.gradient(result.u, g);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run) throw;
    result.loss = result.gradient_norm = std::numeric_limits<double>::quiet_NaN();
    result.reason = std::string("the rollout with the result of the windows fails: ") + error.what();
    return result;
  }
  result.gradient_norm = projected_norm(problem, result.u, g);
  progress.tell(result.u, result.loss, result.gradient_norm);
  result.converged = result.gradient_norm <= options.gradient_tolerance * first_norm;
  result.reason = "gradient below tolerance";
  if (result.converged) return result;
  options.gradient_tolerance *= first_norm / result.gradient_norm;
  result = optimise(problem, options, progress.observer(nullptr));
  progress.add(result);
  return result;
}

}  // namespace

OptimiserResult minimise_by_shooting(InverseProblem& problem, const OptimiserOptions& options,
                                     const IterateObserver& observer) {
  check(problem, options);
  OptimiserOptions inner = options;
  inner.shooting = {};
  Progress progress(problem, observer);
  std::vector<double> u = start_of(problem, options), g;
  const double first_loss = problem.gradient(u, g), first_norm = projected_norm(problem, u, g);
  problem.locate_values_not_finite(false);
  progress.tell(u, first_loss, first_norm);
  double jumps = 0.0;
  {
    Windows windows(problem, options.shooting);
    const GaussNewtonScope scope(windows.problem(), options.gauss_newton);
    inner.start = windows.start(u);
    for (int round = 0; round < options.shooting.rounds; ++round) {
      const OptimiserResult found = minimise_by_tao(windows.problem(), inner, progress.observer(&windows), true);
      progress.add(found);
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
  OptimiserResult result = minimise_one_rollout(problem, inner, first_norm, progress);
  result.iterations = progress.iterations - 1;
  result.evaluations = progress.evaluations;
  result.hessian_products = progress.hessian_products;
  result.violation = jumps;
  if (jumps > options.shooting.tolerance) {
    result.converged = false;
    result.reason = "the windows do not join: jumps of " + std::to_string(jumps) +
                    " of the motion are above the tolerance; use more rounds, or windows of another length";
  }
  return result;
}

}  // namespace diffsim::inverse
