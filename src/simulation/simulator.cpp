// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include <optional>
#include <utility>

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
  return sweep_forward({0, num_steps}, options, loss, observer, nullptr);
}

double DifferentiableSimulator::rollout(StepRange steps, const CheckpointOptions& options, Loss& loss,
                                        const StateObserver& observer) {
  if (steps.begin < 0 || steps.end < steps.begin)
    throw Error("a rollout from step " + std::to_string(steps.begin) + " to " + std::to_string(steps.end) +
                    "; give a range such as {20, 40}",
                ErrorKind::input);
  const State from = state().clone();
  return sweep_forward(steps, options, loss, observer, &from);
}

double DifferentiableSimulator::sweep_forward(StepRange steps, const CheckpointOptions& options, Loss& loss,
                                              const StateObserver& observer, const State* from) {
  const State begin = from ? from->clone() : solver_->initial_state();
  // An earlier sweep gives its memory back before another one is planned or made.
  sweep_.reset();
  store_.reset();
  state_ = State();
  adjoint_ = State();
  model_ = std::make_unique<LaterSteps>(solver_->model(), steps.begin);
  loss_ = std::make_unique<LaterLoss>(loss, steps.begin);
  const int count = steps.size();
  std::optional<SweepPlan> plan;
  if (options.memory.is_given()) plan = plan_sweep(options, *model_, begin, gradient_, count);
  state_ = begin.clone();
  schedule_ = make_schedule(options, count, plan ? &*plan : nullptr);
  store_ = make_store(options, solver_->mesh()->comm());
  sweep_ = std::make_unique<AdjointSweep>(*model_, *loss_, *schedule_, *store_);
  const StateObserver tell = [&](int n, const State& at) {
    if (observer) observer(steps.begin + n, at);
  };
  return sweep_->forward(state_, gradient_, tell, [=](int n, const State&) { return n == count; });
}

const State& DifferentiableSimulator::state() {
  if (state_.fields().empty()) reset();
  return state_;
}

void DifferentiableSimulator::set_state(const State& state) {
  reset();
  state_.copy_from(state);
  synchronise(state_);
}

void DifferentiableSimulator::reset() {
  sweep_.reset();  // the reverse sweep would begin with the state as it was
  state_ = solver_->initial_state();
}

int DifferentiableSimulator::set_state(const std::string& trajectory, int step) {
  State frame = solver_->initial_state();
  const int found = solver_->read_frame(trajectory, step, frame);
  reset();
  state_ = std::move(frame);
  return found;
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
