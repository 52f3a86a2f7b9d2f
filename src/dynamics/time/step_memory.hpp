// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "diffsim/core/field.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim::dynamics {

/// Solutions of implicit steps, for steps that are computed again from the same state with the same parameters: steps
/// that a reverse sweep repeats from a checkpoint, and all steps of a product with the Hessian after a gradient. A
/// stored solution is bitwise identical to the solution that the solver would compute.
class StepMemory {
 public:
  /// Sets the largest number of bytes of stored solutions on this rank. If `bytes` is 0, removes all solutions.
  void set_limit(std::size_t bytes);
  /// Returns true if the limit is above 0.
  bool is_enabled() const { return limit_ > 0; }
  /// Removes all solutions.
  void clear();
  /// Removes all solutions if `key` differs from the key of the last call. `key`: checksum of all values, except the
  /// state, on which steps depend.
  void set_key(std::uint64_t key);
  /// Returns true if all ranks have stored the solution of step n from the state `start`, and copies the solution to
  /// `y`. Collective.
  bool find(MPI_Comm comm, int n, const State& start, Field& y) const;
  /// Stores the solution y of step n from the state `start`, unless the stored solutions would exceed the limit.
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
