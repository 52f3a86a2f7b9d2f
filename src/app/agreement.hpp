// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>

namespace diffsim::app {

/// Barrier with a time limit (`reached`). A rank enters the barrier when the work of the rank has ended or failed. The
/// library throws each of its errors on all ranks, so all ranks enter the barrier soon after an error. If one rank
/// fails alone, the other ranks wait for this rank in some collective call, and the failed rank waits in the barrier
/// until the time limit. The failed rank can then abort the program, which would otherwise wait forever.
class Agreement {
 public:
  /// Duplicates the communicator. Collective.
  explicit Agreement(MPI_Comm comm);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement();

  /// Waits until all ranks have called `reached`, or until the time `patience` has passed. Returns true if all ranks
  /// have called `reached`. After `reached` has returned false once, all later calls return false.
  bool reached();
  /// Returns the maximum of `code`, for example of an exit code, over all ranks. `largest` may be called only after
  /// `reached()` has returned true. Collective.
  int largest(int code) const;

  static constexpr std::chrono::seconds patience{20};

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // duplicate, separate from pending operations on the original
  bool broken_ = false;
};

}  // namespace diffsim::app
