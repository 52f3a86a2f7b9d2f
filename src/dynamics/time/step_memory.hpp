// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "diffsim/core/field.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim::dynamics {

/// Memory of the solutions of implicit steps. Stored solutions are used when a step is computed again from the same
/// state with the same parameters: in a reverse sweep that repeats steps from a checkpoint, and in a product with the
/// Hessian after a gradient. A stored solution is bitwise identical to the solution that the solver would compute.
class StepMemory {
 public:
  /// Sets the maximum size (bytes) of all stored solutions on this rank; must be the same on all ranks. If `bytes` is
  /// 0, removes all solutions.
  void set_limit(std::size_t bytes);
  /// Returns true if solutions are stored (limit above 0).
  bool is_enabled() const { return limit_ > 0; }
  /// Removes all solutions.
  void clear();
  /// Removes all solutions if `key` differs from the key of the last call. `key`: checksum of all values on which the
  /// result of a step depends, except the state.
  void set_key(std::uint64_t key);
  /// Returns true if all ranks have stored the solution of step n from the state `start`, and copies the solution to
  /// `y`. Collective.
  bool find(MPI_Comm comm, int n, const State& start, Field& y) const;
  /// Stores the solution y of step n from the state `start`, unless the size of all stored solutions would exceed the
  /// limit.
  void add(int n, const State& start, const Field& y);

 private:
  struct Solution {
    std::uint64_t start;  // checksum of the state
    Field y;
  };
  std::map<int, Solution> solutions_;  // by the number of the step
  std::size_t limit_ = 0, bytes_ = 0;
  std::uint64_t key_ = 0;
};

/// Returns a checksum of this rank's values of a field, which depends on the order of the values.
std::uint64_t checksum_of(const Field& field);

}  // namespace diffsim::dynamics
