// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "checkpoint/from_options.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/problem.hpp"
#include "inverse/parametrisation.hpp"
#include "inverse/process_groups.hpp"

namespace diffsim {
namespace {

/// Returns true if the values of all ranks are finite. Collective.
bool is_finite(const std::vector<double>& values, MPI_Comm comm) {
  int finite = std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_MIN, comm));
  return finite != 0;
}

/// Returns the sum of the losses, and sets `sum` to the sum of the derivatives.
double sum_of(const std::vector<Contribution>& all, std::vector<double>& sum) {
  double loss = all.front().loss;
  sum = all.front().derivative;
  for (std::size_t k = 1; k < all.size(); ++k) {
    loss += all[k].loss;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += all[k].derivative[i];
  }
  return loss;
}

/// Returns true if both unknowns have the same prescribed densities on this rank.
bool has_same_prescribed(const Unknown& one, const Unknown& other) {
  if (!one.distribution || !other.distribution) return true;
  const std::vector<double>&a = one.distribution->prescribed, &b = other.distribution->prescribed;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

void InverseProblem::add(InverseProblem& experiment) {
  bool is_same = &experiment != this && experiment.size_ == size_ && experiment.unknowns_.size() == unknowns_.size();
  for (std::size_t k = 0; is_same && k < unknowns_.size(); ++k) {
    const Unknown &one = unknowns_[k], &other = experiment.unknowns_[k];
    is_same = one.name() == other.name() && one.parameters() == other.parameters() &&
              one.logarithmic == other.logarithmic && one.map_numbers == other.map_numbers &&
              (!one.entry_map || one.group_names == other.group_names) &&
              one.distribution.has_value() == other.distribution.has_value() && has_same_prescribed(one, other) &&
              !one.shape_filter == !other.shape_filter && blocks_[k].count == experiment.blocks_[k].count &&
              blocks_[k].shared == experiment.blocks_[k].shared;
  }
  collectively(comm(), [&] {
    if (!is_same)
      throw Error(
          "an added experiment must be another problem with the same unknowns, in the same order and with the same "
          "numbers of values",
          ErrorKind::input);
  });
  experiments_.push_back(&experiment);
  experiment.locates_ = false;  // this problem itself calls `locate_not_finite` of its experiments
  experiment.is_added_ = true;
}

std::string InverseProblem::unit() const {
  if (!shared_unit_.empty()) return shared_unit_;
  for (const InverseProblem* experiment : experiments_)
    if (experiment->unit() != loss_.unit()) return "1";
  return loss_.unit();
}

void InverseProblem::tighten_solvers(double factor) {
  model_.tighten_solver(factor);
  for (InverseProblem* experiment : experiments_) experiment->tighten_solvers(factor);
}

void InverseProblem::use_gauss_newton(bool on) {
  gauss_newton_ = on;
  for (InverseProblem* experiment : experiments_) experiment->use_gauss_newton(on);
}

double InverseProblem::solver_tolerance() const {
  double tolerance = model_.solver_tolerance();
  for (const InverseProblem* experiment : experiments_) tolerance = std::max(tolerance, experiment->solver_tolerance());
  return groups_ ? groups_->largest(tolerance) : tolerance;
}

std::unique_ptr<InverseProblem> InverseProblem::with_loss(Loss& loss,
                                                          const std::optional<CheckpointOptions>& checkpoints) const {
  auto made = std::make_unique<InverseProblem>(model_, initial_, num_steps_, loss, unknowns_,
                                               checkpoints.value_or(checkpoints_));
  require_one_group();
  made->copy_unknowns(*this);
  return made;
}

std::unique_ptr<InverseProblem> InverseProblem::with_loss(Loss& loss, ScheduleFactory make_schedule,
                                                          Store& store) const {
  auto made =
      std::make_unique<InverseProblem>(model_, initial_, num_steps_, loss, unknowns_, std::move(make_schedule), store);
  require_one_group();
  made->copy_unknowns(*this);
  return made;
}

void InverseProblem::require_one_group() const {
  if (groups_) throw Error("a problem that groups of processes share cannot be given another loss", ErrorKind::input);
}

const InverseProblem& InverseProblem::experiment(std::size_t k) const {
  if (groups_ && k > 0)
    throw Error("groups of processes share the experiments; there is no access to single experiments",
                ErrorKind::input);
  if (k > experiments_.size())
    throw Error("there is no experiment " + std::to_string(k) + "; the problem has " +
                    std::to_string(1 + experiments_.size()) + ", numbered from 0 on",
                ErrorKind::input);
  return k == 0 ? *this : *experiments_[k - 1];
}

void InverseProblem::copy_unknowns(const InverseProblem& other) {
  std::copy(other.unknowns_.begin(), other.unknowns_.end(), unknowns_.begin());
  std::copy(other.blocks_.begin(), other.blocks_.end(), blocks_.begin());
}

void InverseProblem::require_shared_unknowns() const {
  for (const Unknown& unknown : unknowns_)
    if (!unknown.shared())
      throw Error("groups of processes need unknowns that all ranks share, but '" + unknown.name() +
                      "' has values of cells or vertices; use one group, or a value per region or a map",
                  ErrorKind::input);
}

void InverseProblem::share_experiments(MPI_Comm all, std::vector<int> numbers) {
  collectively(all, [&] {
    if (numbers.size() != 1 + experiments_.size())
      throw Error("each experiment of a group needs a number", ErrorKind::input);
    require_shared_unknowns();
  });
  auto groups = std::make_shared<ProcessGroups>(all, comm(), std::move(numbers));
  std::string unit_of_first = unit();
  broadcast_text(unit_of_first, all);
  shared_unit_ = groups->largest(unit_of_first == unit() ? 0.0 : 1.0) == 0.0 ? unit_of_first : "1";
  groups_ = std::move(groups);
}

bool InverseProblem::waits_for_first_group() const {
  return groups_ && windows_ == WindowsOfGroups::whole_rollout && groups_->numbers().front() > 0;
}

std::vector<Contribution> InverseProblem::contributions(
    std::size_t width, const std::function<Contribution(std::size_t k, InverseProblem& problem)>& evaluate) {
  std::vector<Contribution> own;
  const auto evaluate_own = [&] {
    if (waits_for_first_group()) {
      own.push_back({0.0, std::vector<double>(width)});
      return;
    }
    own.push_back(evaluate(0, *this));
    for (std::size_t k = 0; k < experiments_.size(); ++k) own.push_back(evaluate(1 + k, *experiments_[k]));
  };
  if (!groups_) {
    evaluate_own();
    return own;
  }
  groups_->agree(evaluate_own);
  return groups_->gather(own);
}

void InverseProblem::set_losses(const std::vector<Contribution>& all) {
  losses_.clear();
  for (const Contribution& one : all) losses_.push_back(one.loss);
  // Groups that share windows have one experiment.
  if (windows_ != WindowsOfGroups::none) losses_ = {std::accumulate(losses_.begin(), losses_.end(), 0.0)};
}

double InverseProblem::value(const std::vector<double>& u) {
  set(u);
  const std::vector<Contribution> all = contributions(0, [&](std::size_t k, InverseProblem& problem) -> Contribution {
    if (k > 0) return {problem.value(u), {}};
    State state = initial_.clone();
    const StateObserver watch = [this](int n, const State&) {
      if (n > 0) watcher_(n, n, -1);
    };
    return {rollout(model_, state, num_steps_, &loss_, watcher_ ? watch : StateObserver{}), {}};
  });
  set_losses(all);
  std::vector<double> unused;
  return sum_of(all, unused) + prior(u);
}

double InverseProblem::sweep_all(const std::vector<double>& u, std::vector<double>& gradient,
                                 const StateObserver& observer) {
  InverseProblem* at_fault = nullptr;
  const std::vector<Contribution> all = contributions(size_, [&](std::size_t k, InverseProblem& problem) {
    Contribution made;
    made.loss =
        k > 0 ? problem.sweep_all(u, made.derivative, {}) : sweep(loss_, u, made.derivative, observer, journal_);
    if (!at_fault && !is_finite(made.derivative, comm())) at_fault = &problem;
    return made;
  });
  set_losses(all);
  const double sum = sum_of(all, gradient);
  add_prior_gradient(u, gradient);
  const bool is_elsewhere = groups_ && groups_->largest(at_fault ? 1.0 : 0.0) > 0.0;
  const auto refuse_fault = [&] {
    if (at_fault && locates_) at_fault->locate_not_finite(u);
    if (at_fault && !is_added_) throw Error("the gradient is not finite", ErrorKind::run);
    if (!at_fault && !is_elsewhere && !is_added_ && !priors_.empty() && !is_finite(gradient, comm()))
      throw Error("the gradient of a prior is not finite", ErrorKind::run);
  };
  if (groups_)
    groups_->agree(refuse_fault);
  else
    refuse_fault();
  return sum + prior(u);
}

std::vector<double> InverseProblem::product_all(const std::vector<double>& u, const std::vector<double>& v,
                                                std::vector<double>* gradient) {
  if (gauss_newton_ && gradient) sweep_all(u, *gradient, {});
  const bool with_gradient = gradient && !gauss_newton_;
  // The product, followed by the gradient if `with_gradient` is true.
  std::vector<double> both;
  sum_of(contributions(with_gradient ? 2 * size_ : size_,
                       [&](std::size_t k, InverseProblem& problem) {
                         Contribution made;
                         std::vector<double> by_u;
                         if (k > 0)
                           made.derivative = problem.product_all(u, v, with_gradient ? &by_u : nullptr);
                         else
                           made.derivative = gauss_newton_ ? gauss_newton_sweep(u, v) : hessian_sweep(u, v, by_u);
                         if (with_gradient) made.derivative.insert(made.derivative.end(), by_u.begin(), by_u.end());
                         return made;
                       }),
         both);
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(size_);
  std::vector<double> product(both.begin(), middle);
  add_prior_product(u, v, product);
  if (with_gradient) {
    gradient->assign(middle, both.end());
    add_prior_gradient(u, *gradient);
  }
  return product;
}

}  // namespace diffsim
