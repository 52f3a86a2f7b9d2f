// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/directional.hpp"
#include "adjoint/gauss_newton.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/problem.hpp"
#include "inverse/evaluation_log.hpp"
#include "inverse/parametrisation.hpp"
#include "inverse/state_field.hpp"

namespace diffsim {

using namespace inverse;

std::vector<double> InverseProblem::gauss_newton_sweep(const std::vector<double>& u, const std::vector<double>& v) {
  const std::unique_ptr<Schedule> schedule = begin_product(u);
  ParameterSet direction = make_gradient(), product = make_gradient();
  JoinedState start(initial_);
  start_product(u, v, direction, start);
  GaussNewtonModel model(model_, direction);
  GaussNewtonLoss loss(loss_, model);
  sweep_product(model, loss, *schedule, start, product);
  return by_unknowns(u, product, start.first);
}

std::unique_ptr<Schedule> InverseProblem::begin_product(const std::vector<double>& u) {
  set(u);
  std::unique_ptr<Schedule> schedule = make_product_schedule();
  if (schedule->first_reversed() > 0)
    throw Error(
        "a sweep of the last steps only has no second derivatives; reverse all steps, or use an optimiser that "
        "needs gradients only",
        ErrorKind::input);
  return schedule;
}

void InverseProblem::start_product(const std::vector<double>& u, const std::vector<double>& v, ParameterSet& direction,
                                   JoinedState& start) {
  start.first.copy_from(initial_);
  add_direction(u, v, direction, start.second);
  synchronise(direction);
  synchronise(start.second);
}

void InverseProblem::sweep_product(Model& model, Loss& loss, Schedule& schedule, JoinedState& ends,
                                   ParameterSet& product) {
  State state = model.make_state(), adjoint = state.zero_like();
  ends.join(state);
  {
    // The sweep's records are released at the end of this block.
    AdjointSweep sweep(model, loss, schedule, store_);
    sweep.watch([this](long taken, int reached, int from) {
      if (watcher_) watcher_(taken, reached, from);
      // The journal stores no progress within a product. Evaluations before the product are in the log.
      if (journal_ && journal_->poll() == SweepJournal::Request::stop) journal_->stop("in a product with the Hessian");
    });
    sweep.forward(state, product, {}, [this](int n, const State&) { return n == num_steps_; });
    sweep.backward(adjoint);
    set_statistics(sweep.statistics());
  }
  ends.split(adjoint);
}

std::vector<double> InverseProblem::hessian_sweep(const std::vector<double>& u, const std::vector<double>& v,
                                                  std::vector<double>& gradient) {
  const std::unique_ptr<Schedule> schedule = begin_product(u);
  ParameterSet direction = make_gradient(), product = make_gradient();
  JoinedState start(initial_);
  start_product(u, v, direction, start);
  DirectionalModel model(model_, direction);
  DirectionalLoss loss(loss_, model);
  sweep_product(model, loss, *schedule, start, product);

  const JoinedState& by_initial = start;
  const ParameterSet& by_parameters = model.sum_gradient();
  gradient = by_unknowns(u, by_parameters, by_initial.second);
  std::vector<double> result(size_, 0.0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    // For p = E(q) and q = f(u), let g = E'(q)ᵀ ∂L/∂p. Then ∂L/∂u = f'(u) g, and the derivative of ∂L/∂u along v is
    // f'(u) dg + f''(u) v g.
    const Block& block = blocks_[k];
    const std::vector<double> q = physical(k, u), at = complete(k, u),
                              w = by_entries(k, by_parameters, by_initial.second);
    std::vector<double> dq = complete(k, v);
    for (std::size_t i = 0; i < dq.size(); ++i) dq[i] *= block.values->derivative(at[i]);
    std::vector<double> g = block.entries->adjoint(q, w),
                        dg = block.entries->adjoint_tangent(q, dq, w, by_entries(k, product, by_initial.first));
    sum_shared(k, g);
    sum_shared(k, dg);
    for (std::size_t i = block.offset, j = 0; j < block.count; ++i, ++j)
      result[i] = dg[j] * block.values->derivative(u[i]) + block.values->second(u[i]) * v[i] * g[j];
  }
  return result;
}

std::vector<double> InverseProblem::hessian_product(const std::vector<double>& u, const std::vector<double>& v,
                                                    std::vector<double>* gradient) {
  if (!log_ || gradient) return product_all(u, v, gradient);
  // The log stores a product with its direction v, and a gradient with its point u.
  if (const auto known = log_->replay(*this, v)) return known->gradient;
  const EvaluationLog::Evaluation evaluation{0.0, product_all(u, v, nullptr), {}};
  log_->add(*this, v, evaluation);
  return evaluation.gradient;
}

}  // namespace diffsim
