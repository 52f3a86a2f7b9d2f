// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "diffsim/core/state.hpp"

namespace diffsim {

/// Norms of the adjoint ∂L/∂x[n] during a reverse run, where L is the loss and x[n] is the state after n steps. An
/// adjoint that grows exponentially towards the first step shows that the motion is chaotic, or that contact is stiff:
/// derivatives are then exact, but describe only very small changes of the parameters.
class AdjointHistory {
 public:
  struct Entry {
    int step = 0;
    double positions = 0.0;  ///< norm ‖∂L/∂x‖ for the positions x, in the unit of the loss L per m
    double velocities = 0.0;  ///< norm ‖∂L/∂v‖ for the velocities v, in the unit of the loss L per m/s; 0 if the state
                              ///< has no velocities
  };

  /// Creates the history. Norms are recorded for the first state, for the last state, and for the states after n steps
  /// if n is a multiple of `every`. Norms are also recorded for other states on which the loss depends directly, until
  /// norms of 64 states with such a dependence are recorded.
  explicit AdjointHistory(MPI_Comm comm, int every = 1) : comm_(comm), every_(every) {}

  /// Records the norms of `adjoint`. The arguments are those of an AdjointObserver. The first call in a reverse sweep,
  /// for the last state, deletes the entries of the previous sweep. Collective.
  void observe(int n, const State& adjoint, bool is_complete);
  /// Recorded norms, from the last step to the first.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Growth of the norm ‖∂L/∂x‖ of the adjoint of the positions, relative to the contributions of the loss.
  struct Growth {
    /// Maximum over the recorded steps n of ‖∂L/∂x[n]‖ / Σ_{m≥n} c_m, at least 1. c_m is the absolute change of
    /// ‖∂L/∂x[m]‖ when the derivative of ℓ_m, the term of the loss for the state x[m], is added to the adjoint. For
    /// states whose c_m was not computed, the sum contains c_m of the next state, in the order of the reverse run,
    /// whose c_m was computed.
    double factor = 1.0;
    int from = 0, to = 0;  ///< `from`: last step on whose state the loss depends directly; `to`: step n of the maximum
  };
  Growth growth() const;

 private:
  MPI_Comm comm_;
  int every_;
  std::vector<Entry> entries_;
  std::vector<double>
      contributed_;        // for each entry: sum of the changes c_m from the last step to this step (see Growth)
  int contributions_ = 0;  // number of steps with a recorded contribution
  int skipped_ = 0;        // number of changes c_m that were not computed since the last recorded change
  int before_step_ = -1;   // step of `before_`
  double before_ = 0.0;    // norm without the contribution of the loss at that step
};

/// Value of `AdjointHistory::Growth::factor` above which reports warn about the gradient.
inline constexpr double large_growth = 1e3;

}  // namespace diffsim
