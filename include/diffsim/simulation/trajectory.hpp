// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/model.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

class KeptStore;

/// States of a rollout. The checkpoints are in memory; other states are computed on demand from the nearest checkpoint
/// before them. A Trajectory is valid as long as the Model lives and its parameters do not change.
class Trajectory {
 public:
  /// `checkpoints`: snapshots of state 0 and of any other states. `last`: state `num_steps`.
  Trajectory(Model& model, std::shared_ptr<KeptStore> checkpoints, int num_steps, double dt, State last);

  int num_steps() const { return num_steps_; }
  /// Time of step n, s.
  double time(int n) const { return n * dt_; }
  /// State of step n, 0 … `num_steps()`. The reference is valid until the next call of `state`. States in ascending
  /// order cost one rollout in all. Throws Error (input) for any other n. Collective.
  const State& state(int n);

 private:
  Model* model_;
  std::shared_ptr<KeptStore> checkpoints_;
  int num_steps_;
  double dt_;
  State last_, state_;
  int step_ = -1;  // number of `state_`
};

}  // namespace diffsim
