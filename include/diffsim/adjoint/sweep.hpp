// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Callback that returns true if a rollout of unknown length ends at the state after n steps. An EndOfRollout must
/// return the same value on all ranks.
using EndOfRollout = std::function<bool(int n, const State& state)>;

/// Progress callback of a sweep (forward and reverse run), called after each execution of a step, and after the adjoint
/// of each step n > 0. `taken`: number of executions of steps so far, repetitions included. `reached`: largest n for
/// which the state x[n] after n steps has been computed. `reversed_from`: -1 during the forward run; during the reverse
/// run, the smallest number of a step whose adjoint has been computed (at first: the number of all steps).
using SweepWatcher = std::function<void(long taken, int reached, int reversed_from)>;

/// Callback that receives the adjoint ∂L/∂x[n] of each state x[n] during a reverse sweep, beginning with the last
/// state. The argument `adjoint` is valid at the vertices that this rank owns, but not at ghost vertices. If the loss L
/// = Σₙ ℓₙ has a term ℓₙ for a state x[n] other than the last state, the AdjointObserver is called twice for x[n]:
/// first with `is_complete` = false and an adjoint that does not yet include ∂ℓₙ/∂x[n], then with the complete adjoint.
using AdjointObserver = std::function<void(int n, const State& adjoint, bool is_complete)>;

/// Callback that receives each state x[n] of a forward run, the derivative `tangent` of x[n] (see `rollout_tangent`),
/// and the change `direction` of the parameters.
using TangentObserver =
    std::function<void(int n, const State& state, const State& tangent, const ParameterSet& direction)>;

/// Counters of the work of a sweep, which consists of a forward run and of a reverse run that computes the gradient.
/// The record of a step contains the data that the adjoint of the step needs. A snapshot is a stored state.
struct SweepStatistics {
  long advances = 0;               ///< number of steps executed without a record, repetitions included
  long recordings = 0;             ///< number of steps executed, or inverted, with a record
  long stores = 0;                 ///< number of snapshots stored
  long restores = 0;               ///< number of states read from snapshots or from the files of an interrupted sweep
  std::int64_t bytes_written = 0;  ///< number of bytes written to disks by all ranks together
  double seconds_waiting = 0.0;    ///< time (s) for which this rank waited for disks
  double forward_seconds = 0.0;    ///< wall time (s) of the forward run on this rank
  double backward_seconds = 0.0;   ///< wall time (s) of the reverse run on this rank

  /// Adds each member of `other`, the statistics of another sweep, to the same member of this object.
  SweepStatistics& operator+=(const SweepStatistics& other);
};

/// Calls `Model::prepare`, and advances `state` by `num_steps` steps, beginning with step 0. `observer` receives each
/// state. Returns the loss, summed over all states and ranks; 0 if `loss` is nullptr. Collective.
double rollout(Model& model, State& state, int num_steps, Loss* loss = nullptr, const StateObserver& observer = {});
/// Overload of `rollout` for a part of a rollout: advances `state` from x[`steps.begin`] to x[`steps.end`]. The step
/// numbers n that the loss and the observer receive are counted from the beginning of the whole rollout. Collective.
double rollout(Model& model, State& state, StepRange steps, Loss* loss = nullptr, const StateObserver& observer = {});

/// Runs a rollout in forward mode: advances `state` from x[0] to x[N], N = `num_steps`, and `tangent` from dx[0] to
/// dx[N]. The tangent dx[n] is the derivative of x[n] along the change `direction` of the parameters and the change
/// dx[0] of the initial state. Returns the derivative of the loss along `direction` and dx[0], summed over all ranks; 0
/// if `loss` is nullptr. `observer` receives each state and its derivative. Collective.
double rollout_tangent(Model& model, State& state, State& tangent, const ParameterSet& direction, int num_steps,
                       Loss* loss = nullptr, const TangentObserver& observer = {});

}  // namespace diffsim
