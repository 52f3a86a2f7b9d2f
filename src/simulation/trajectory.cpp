// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "simulation/changed.hpp"
#include "simulation/kept_store.hpp"

namespace diffsim {

Trajectory::Trajectory(Model& model, std::shared_ptr<KeptStore> checkpoints, int num_steps, double dt, State last)
    : model_(&model),
      checkpoints_(std::move(checkpoints)),
      num_steps_(num_steps),
      dt_(dt),
      last_(std::move(last)),
      revision_(model.parameters().revision()) {}

const State& Trajectory::state(int n) {
  if (n < 0 || n > num_steps_)
    throw Error("step " + std::to_string(n) + " is outside the trajectory of " + std::to_string(num_steps_) +
                    " steps; give a step from 0 to " + std::to_string(num_steps_),
                ErrorKind::input);
  if (n == num_steps_) return last_;
  const int checkpoint = *std::prev(checkpoints_->steps().upper_bound(n));
  if (step_ < checkpoint || step_ > n) {
    if (state_.fields().empty()) state_ = last_.zero_like();
    checkpoints_->get(checkpoint, state_);
    step_ = checkpoint;
  }
  if (step_ < n) {
    if (changed_on_any_rank(model_->parameters(), revision_, model_->comm()))
      throw Error(
          "state " + std::to_string(n) +
              " has to be computed again, but a parameter may have changed since the rollout; call rollout again",
          ErrorKind::input);
    model_->prepare();
  }

  for (; step_ < n; ++step_) model_->step(step_, state_, nullptr);
  return state_;
}

}  // namespace diffsim
