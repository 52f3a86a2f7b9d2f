// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "diffsim/core/field.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim::dynamics {

/// Memory of the solutions of implicit steps. A stored solution is used when the step is computed again from the same
/// state with the same parameters: in a reverse sweep that repeats steps from a checkpoint, and in a product with the
/// Hessian after a gradient. A stored solution is bitwise identical to the solution that the solver would compute.
class StepMemory {
 public:
  /// Sets the maximum total size (bytes) of the solutions that this rank stores. The argument `bytes` must be the same
  /// on all ranks. A limit of 0 bytes removes all stored solutions.
  void set_limit(std::size_t bytes);
  /// Returns true if the memory can store solutions, that is, if the limit of their size is above 0.
  bool is_enabled() const { return limit_ > 0; }
  /// Removes all solutions.
  void clear();
  /// Removes all stored solutions if `key` differs from the key of the last call of `set_key`. `key`: checksum of all
  /// values on which the result of a step depends, except the state.
  void set_key(std::uint64_t key);
  /// Returns true, with the solution in `y`, if all ranks have stored the solution of step n from the state `start`.
  /// Collective.
  bool find(MPI_Comm comm, int n, const State& start, Field& y) const;
  /// Stores the solution y of step n from the state `start`, unless the size of all stored solutions would exceed the
  /// limit of `set_limit`.
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

/// Returns a checksum of this rank's values of a field; the checksum depends on the order of the values.
std::uint64_t checksum_of(const Field& field);

}  // namespace diffsim::dynamics
