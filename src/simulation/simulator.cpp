// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/checkpoint/hdf5_store.hpp"
#include "diffsim/checkpoint/revolve_schedule.hpp"
#include "diffsim/checkpoint/two_level_schedule.hpp"

namespace diffsim {

std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps) {
  if (options.schedule == "all") return std::make_unique<AllSchedule>(num_steps);
  if (options.schedule == "uniform") return std::make_unique<UniformSchedule>(num_steps, options.every);
  if (options.schedule == "revolve") return std::make_unique<RevolveSchedule>(num_steps, options.snapshots);
  if (options.schedule == "two_level")
    return std::make_unique<TwoLevelSchedule>(num_steps, options.every, options.snapshots);
  throw Error("unknown checkpoint schedule '" + options.schedule + "'; there are: all, uniform, revolve, two_level",
              ErrorKind::input);
}

std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm) {
  if (options.store == "memory") return std::make_unique<MemoryStore>();
  if (options.store == "hdf5") return std::make_unique<Hdf5Store>(comm, options.directory);
  throw Error("unknown checkpoint store '" + options.store + "'; there are: memory, hdf5", ErrorKind::input);
}

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
  state_ = solver_->initial_state();
  schedule_ = make_schedule(options, num_steps);
  store_ = make_store(options, solver_->mesh()->comm());
  sweep_ = std::make_unique<AdjointSweep>(solver_->model(), loss, *schedule_, *store_);
  return sweep_->forward(state_, gradient_, observer);
}

void DifferentiableSimulator::backward() {
  if (!sweep_) throw Error("backward comes after rollout");
  adjoint_ = state_.zero_like();
  sweep_->backward(adjoint_);
}

const Field& DifferentiableSimulator::gradient(const std::string& parameter) const {
  return gradient_.at(parameter).field;
}

const SweepStatistics& DifferentiableSimulator::statistics() const {
  if (!sweep_) throw Error("there are no statistics before a rollout");
  return sweep_->statistics();
}

}  // namespace diffsim
