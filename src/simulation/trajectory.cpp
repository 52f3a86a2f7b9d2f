// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/simulator.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "simulation/kept_store.hpp"

namespace diffsim {

Trajectory::Trajectory(std::shared_ptr<DifferentiableScene> scene, std::shared_ptr<KeptStore> checkpoints,
                       StepRange steps, State last)
    : scene_(std::move(scene)),
      checkpoints_(std::move(checkpoints)),
      steps_(steps),
      last_(std::move(last)),
      revision_(scene_->revision()) {}

double Trajectory::time(int n) const { return n * scene_->dt(); }

const State& Trajectory::state(int n) {
  if (n < steps_.begin || n > steps_.end)
    throw Error("step " + std::to_string(n) + " is outside the trajectory of " + std::to_string(num_steps()) +
                    " steps; give a step from " + std::to_string(steps_.begin) + " to " + std::to_string(steps_.end),
                ErrorKind::input);
  if (n == steps_.end) return last_;
  const int snapshot = *std::prev(checkpoints_->steps().upper_bound(n - steps_.begin));
  const int checkpoint = steps_.begin + snapshot;
  if (step_ < checkpoint || step_ > n) {
    if (state_.fields().empty()) state_ = last_.zero_like();
    checkpoints_->get(snapshot, state_);
    step_ = checkpoint;
  }
  if (step_ < n) {
    if (scene_->changed_since(revision_))
      throw Error("state " + std::to_string(n) +
                      " has to be computed again, but a parameter or the fixed vertices may have changed since the "
                      "rollout; call rollout again",
                  ErrorKind::input);
    scene_->model().prepare();
  }

  for (; step_ < n; ++step_) scene_->model().step(step_, state_, nullptr);
  return state_;
}

}  // namespace diffsim
