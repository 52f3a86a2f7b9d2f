// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "diffsim/core/state.hpp"

namespace diffsim {

/// Norms of the adjoint ∂L/∂x[n] during a reverse sweep. An adjoint that grows exponentially towards the first step
/// shows that the motion is chaotic, or that contact is stiff: derivatives are then exact, but describe only very small
/// changes of the parameters.
class AdjointHistory {
 public:
  struct Entry {
    int step = 0;
    double positions = 0.0;   ///< ‖∂L/∂x‖, in the unit of the loss per m
    double velocities = 0.0;  ///< ‖∂L/∂v‖, in the unit of the loss per m/s; 0 if the state has no velocities
  };

  /// Creates the history. Norms are recorded at the first state, at the last state, and at the states x[n] for
  /// multiples n of `every`. Norms are also recorded at the other states that the loss observes, until 64 contributions
  /// of the loss are recorded.
  explicit AdjointHistory(MPI_Comm comm, int every = 1) : comm_(comm), every_(every) {}

  /// Records the norms of `adjoint`; the AdjointObserver of a reverse sweep calls this function. The first call in a
  /// reverse sweep, for the last state, deletes the entries of the previous sweep. Collective.
  void observe(int n, const State& adjoint, bool is_complete);
  /// Entries in the order of the reverse sweep: from the last step to the first.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Growth of the norm ‖∂L/∂x‖ of the adjoint of the positions, relative to the contributions of the loss.
  struct Growth {
    /// Maximum over the recorded steps n of ‖∂L/∂x[n]‖ / Σ_{m≥n} c_m, where c_m is the absolute change of the norm when
    /// the derivative of ℓ_m is added to the adjoint.
    double factor = 1.0;
    int from = 0, to = 0;  ///< `from`: last step to which the loss contributes; `to`: step of the largest ratio
  };
  Growth growth() const;

 private:
  MPI_Comm comm_;
  int every_;
  std::vector<Entry> entries_;
  std::vector<double> contributed_;  // for each entry: sum of the changes c_m so far (see Growth)
  int contributions_ = 0;            // number of steps with a recorded contribution
  int skipped_ = 0;                  // number of contributions that were not computed since the last recorded one
  int before_step_ = -1;             // step of `before_`
  double before_ = 0.0;              // norm without the contribution of the loss at that step
};

/// Value of `AdjointHistory::Growth::factor` above which reports warn about the gradient.
inline constexpr double large_growth = 1e3;

}  // namespace diffsim
