// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/directional.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/problem.hpp"
#include "inverse/evaluation_log.hpp"
#include "inverse/unknown_values.hpp"

namespace diffsim {

using namespace inverse;

std::vector<double> InverseProblem::hessian_sweep(const std::vector<double>& u, const std::vector<double>& v,
                                                  std::vector<double>* gradient) {
  set(u);
  const std::unique_ptr<Schedule> schedule = make_product_schedule();
  ParameterSet direction = make_gradient(), product = make_gradient();
  JoinedState start(initial_);
  start.first.copy_from(initial_);
  add_direction(u, v, direction, start.second);
  synchronise(direction);
  synchronise(start.second);
  DirectionalModel model(model_, direction);
  DirectionalLoss loss(loss_, model);
  State state = model.make_state(), adjoint = state.zero_like();
  start.join(state);
  if (schedule->first_reversed() > 0)
    throw Error(
        "a sweep of the last steps only has no second derivatives; reverse all steps, or use an optimiser that "
        "needs gradients only",
        ErrorKind::input);
  {
    // The sweep's records are released at the end of this block.
    AdjointSweep sweep(model, loss, *schedule, store_);
    sweep.watch([this](long taken, int reached, int from) {
      if (watcher_) watcher_(taken, reached, from);
      // The journal keeps no progress within a product; earlier evaluations are in the log.
      if (journal_ && journal_->poll() == SweepJournal::Request::stop) journal_->stop("in a product with the Hessian");
    });
    sweep.forward(state, product, {}, [this](int n, const State&) { return n == num_steps_; });
    sweep.backward(adjoint);
    statistics_ = sweep.statistics();
  }

  JoinedState& by_initial = start;
  by_initial.split(adjoint);
  const ParameterSet& by_parameters = model.sum_gradient();
  const std::vector<double> by_u = by_unknowns(u, by_parameters, by_initial.second);
  std::vector<double> result(size_, 0.0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& unknown = unknowns_[k];
    const Block& block = blocks_[k];
    std::vector<double> values = by_entries(k, product, by_initial.first);
    if (unknown.map_numbers > 0 && unknown.logarithmic) {
      // p_e = p0_e exp((B u)_e), so dp_e = p_e (B v)_e and d(p_e ∂L/∂p_e) = p_e (d(∂L/∂p_e) + ∂L/∂p_e (B v)_e).
      const std::vector<double> first = by_entries(k, by_parameters, by_initial.second);
      const std::vector<double> change = mapped(unknown, complete(k, v));
      for (std::size_t e = 0; e < change.size(); ++e) values[e] += first[e] * change[e];
      scale_by_value(k, values);
    }
    const std::vector<double> g = by_numbers(k, values), p = physical(k, u);
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::size_t place = block.offset + i;
      result[place] = in_logarithm(k) ? g[i] * p[i] + by_u[place] * v[place] : g[i];
    }
  }
  if (gradient) *gradient = by_u;
  return result;
}

std::vector<double> InverseProblem::hessian_product(const std::vector<double>& u, const std::vector<double>& v,
                                                    std::vector<double>* gradient) {
  if (!log_ || gradient) return hessian_sweep(u, v, gradient);
  // Products are logged under their direction v, gradients under their point u.
  if (const auto known = log_->replay(*this, v)) return known->gradient;
  const EvaluationLog::Evaluation evaluation{0.0, hessian_sweep(u, v, nullptr), {}};
  log_->add(*this, v, evaluation);
  return evaluation.gradient;
}

}  // namespace diffsim
