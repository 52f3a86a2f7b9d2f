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
  /// The gradient of the last rollout's loss.
  void backward();

  const State& state() const { return state_; }  ///< after the rollout
  const Field& gradient(const std::string& parameter) const;
  const ParameterSet& gradient() const { return gradient_; }
  /// ∂L/∂x[0]: `positions` and `velocities`, owned entries. Throws Error (input) where not all steps were reversed.
  const State& initial_gradient() const;
  const SweepStatistics& statistics() const;

 private:
  DifferentiableSolver* solver_;
  State state_, adjoint_;
  ParameterSet gradient_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<AdjointSweep> sweep_;
};

}  // namespace diffsim
