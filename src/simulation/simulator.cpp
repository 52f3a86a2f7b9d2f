// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include <optional>

#include "diffsim/core/error.hpp"

namespace diffsim {

DifferentiableSimulator::DifferentiableSimulator(DifferentiableSolver& solver) : solver_(&solver) {}

void DifferentiableSimulator::require_gradient(const std::vector<std::string>& parameters) {
  gradient_ = solver_->parameters().zero_like(parameters);
}

double DifferentiableSimulator::rollout(int num_steps, int checkpoint_every, Loss& loss,
                                        const StateObserver& observer) {
  CheckpointOptions options;
  if (checkpoint_every > 0) {
    options.schedule = "uniform";
    options.every = checkpoint_every;
  }
  return rollout(num_steps, options, loss, observer);
}

double DifferentiableSimulator::rollout(int num_steps, const CheckpointOptions& options, Loss& loss,
                                        const StateObserver& observer) {
  if (solver_->has_contact()) solver_->require_apart();
  std::optional<SweepPlan> plan;
  if (options.memory.is_given()) {
    // An earlier sweep gives its memory back before this one is planned.
    sweep_.reset();
    store_.reset();
    state_ = State();
    adjoint_ = State();
    plan = plan_sweep(options, solver_->model(), solver_->initial_state(), gradient_, num_steps);
  }
  state_ = solver_->initial_state();
  schedule_ = make_schedule(options, num_steps, plan ? &*plan : nullptr);
  store_ = make_store(options, solver_->mesh()->comm());
  sweep_ = std::make_unique<AdjointSweep>(solver_->model(), loss, *schedule_, *store_);
  return sweep_->forward(state_, gradient_, observer, [=](int n, const State&) { return n == num_steps; });
}

void DifferentiableSimulator::backward() {
  if (!sweep_) throw Error("backward comes after rollout");
  adjoint_ = state_.zero_like();
  sweep_->backward(adjoint_);
}

const Field& DifferentiableSimulator::gradient(const std::string& parameter) const {
  return gradient_.at(parameter).field;
}

const State& DifferentiableSimulator::initial_gradient() const {
  if (schedule_ && schedule_->first_reversed() > 0)
    throw Error("a sweep of the last steps only has no gradient by the initial state; reverse all steps",
                ErrorKind::input);
  return adjoint_;
}

const SweepStatistics& DifferentiableSimulator::statistics() const {
  if (!sweep_) throw Error("there are no statistics before a rollout");
  return sweep_->statistics();
}

}  // namespace diffsim
