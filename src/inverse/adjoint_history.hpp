// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"

namespace diffsim {

/// Norms of the adjoint ∂L/∂x[n] during a reverse sweep, where L is the loss and x[n] is the state after n steps. An
/// adjoint whose norm grows exponentially towards the first step shows that the motion is chaotic, or that contact is
/// stiff. In both cases, the derivatives of the loss are exact, but they predict the change of the loss only for very
/// small changes of the parameters.
class AdjointHistory {
 public:
  struct Entry {
    int step = 0;
    double positions = 0.0;  ///< norm ‖∂L/∂q‖ for the positions q of the state, in the unit of the loss L per m
    double velocities = 0.0;  ///< norm ‖∂L/∂v‖ for the velocities v, in the unit of the loss L per m/s; 0 if the state
                              ///< has no velocities
  };

  /// Creates the history. Norms of the adjoint are recorded for the first and the last state of a rollout, and for the
  /// states after n steps if n is a multiple of `every`. Norms are also recorded for the first 64 states, in the order
  /// of the reverse sweep, on which the loss depends directly.
  explicit AdjointHistory(MPI_Comm comm, int every = 1) : comm_(comm), every_(every) {}

  /// Records the norms of `adjoint`. The arguments of `observe` have the meanings that the type AdjointObserver
  /// documents. The first call of `observe` in a reverse sweep, for the last state, deletes the recorded norms of the
  /// previous reverse sweep. Collective.
  void observe(int n, const State& adjoint, bool is_complete);
  /// Recorded norms of the adjoint, from the last step to the first.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Growth of ‖∂L/∂q‖, the norm of the adjoint of the positions q, relative to the contributions that the terms of the
  /// loss add to the norm.
  struct Growth {
    /// Maximum of 1 and of the ratios ‖∂L/∂q[n]‖ / Σ_{m≥n} c_m for all recorded states x[n], where q[n] are the
    /// positions of x[n]. The contribution c_m of the loss is the absolute change of ‖∂L/∂q[m]‖ when the derivative of
    /// ℓ_m, the term of the loss for the state x[m], is added to the adjoint. If c_m was not computed for a state x[m]
    /// on which the loss depends, the sum uses the contribution at the next state, in the order of the reverse sweep,
    /// for which a contribution was computed.
    double factor = 1.0;
    /// `from`: number n of the last state x[n] on which the loss depends directly. `to`: number n of the state x[n] at
    /// which the norm of the adjoint has grown by the factor `factor`.
    int from = 0, to = 0;
  };
  Growth growth() const;
  /// Returns the Growth with the largest factor of all reverse sweeps that ended after the last call of
  /// `take_largest_growth`.
  Growth take_largest_growth();

  /// Returns the largest recorded number n > 0 for which the adjoint is negligible in all recorded states x[m] with m ≤
  /// n; the steps before x[n] then do not contribute to the rounded gradient. The adjoint is negligible if the norm of
  /// each field of ∂L/∂x[m] is at most 2⁻⁵² times the largest recorded norm. If `are_fixed`, the norm of the positions
  /// may instead be constant up to rounding: vertices whose positions are fixed pass on the adjoint of their positions
  /// unchanged. Returns no value if there is no such number, if the reverse sweep did not reach step 0, or if the loss
  /// depends on so many states that contributions to the norms were not computed. Prescribed motions, which contribute
  /// in each step, exclude `are_fixed`.
  std::optional<int> vanishes_before(bool are_fixed) const;

 private:
  /// Includes the growth of the current reverse sweep in `largest_`, once. An infinite growth is left out: the
  /// optimiser treats such an evaluation as failed.
  void keep_largest();
  /// Returns true if the norms of all fields except the positions are negligible.
  bool is_negligible(const State& adjoint, const Entry& entry) const;
  MPI_Comm comm_;
  int every_;
  std::vector<Entry> entries_;
  std::vector<double>
      contributed_;               // for each entry: sum of the changes c_m from the last step to this step (see Growth)
  int contributions_ = 0;         // number of steps with a recorded contribution
  int skipped_ = 0;               // number of changes c_m that were not computed since the last recorded change
  std::vector<bool> negligible_;  // for each entry: true if all fields except the positions are negligible
  double largest_positions_ = 0.0, largest_velocities_ = 0.0;  // largest recorded norms of the reverse sweep
  Growth largest_;        // of the reverse sweeps before the current one, since the last call of take_largest_growth
  bool is_taken_ = true;  // true if `largest_` includes the growth of the current sweep, or if there is no sweep
  int before_step_ = -1;  // step of `before_`
  double before_ = 0.0;   // norm without the contribution of the loss at that step
};

/// Value of `AdjointHistory::Growth::factor` above which a run reports a warning about the gradient.
inline constexpr double large_growth = 1e3;

}  // namespace diffsim
