// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/simulation/checkpointing.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim {

/// Rolls a solver out and takes gradients of a loss through the rollout.
class DifferentiableSimulator {
 public:
  explicit DifferentiableSimulator(DifferentiableSolver& solver);

  /// Parameters that `backward` gives the gradient by; ∂L/∂x[0] comes in any case.
  void require_gradient(const std::vector<std::string>& parameters);
  /// `num_steps` steps from the solver's initial state; returns the loss. `checkpoint_every` K > 0: a snapshot every K
  /// steps, in memory; 0: every step is recorded.
  double rollout(int num_steps, int checkpoint_every, Loss& loss, const StateObserver& observer = {});
  double rollout(int num_steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer = {});
  /// Steps from `steps.begin` to `steps.end`, from `state`: where the last rollout ended, or what was set. Loss and
  /// observer are told the numbers of the whole rollout; `initial_gradient` is by the state that these steps begin
  /// with.
  double rollout(StepRange steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer = {});
  /// The gradient of the last rollout's loss.
  void backward();

  /// After the last rollout, or as it was set; before these, the solver's initial state.
  const State& state();
  /// Sets the state that the next rollout of a range of steps begins with. Throws Error for one of other fields. As
  /// with the other verbs that set the state, `backward` needs a new rollout then.
  void set_state(const State& state);
  /// Sets `state` to the solver's initial state.
  void reset();
  /// Sets `state` to a frame of a trajectory file: of step `step`, or the last one for -1. Returns its step. Throws
  /// InputError where the file has no such frame, or not all that a step begins with.
  int set_state(const std::string& trajectory, int step);
  const Field& gradient(const std::string& parameter) const;
  const ParameterSet& gradient() const { return gradient_; }
  /// ∂L/∂x, x the state that the rollout began with: `positions` and `velocities`, owned entries. Throws Error (input)
  /// where not all steps were reversed.
  const State& initial_gradient() const;
  const SweepStatistics& statistics() const;

 private:
  double sweep_forward(StepRange steps, const CheckpointOptions& options, Loss& loss, const StateObserver& observer,
                       const State* from);

  DifferentiableSolver* solver_;
  State state_, adjoint_;
  std::unique_ptr<LaterSteps> model_;
  std::unique_ptr<LaterLoss> loss_;
  ParameterSet gradient_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<AdjointSweep> sweep_;
};

}  // namespace diffsim
