// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>

namespace diffsim::app {

/// Where ranks meet that have ended, or have failed. The library's errors are agreed on, so when one rank has one the
/// others are on their way; should one fail alone nevertheless, the others wait for it somewhere and an end is better
/// than a hang.
class Agreement {
 public:
  /// Collective.
  explicit Agreement(MPI_Comm comm);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement();

  /// Waits for all ranks to call this; false, and ever after, if some do not within `patience`.
  bool reached();
  /// The largest of all ranks' codes, where agreement was reached. Collective.
  int largest(int code) const;

  static constexpr std::chrono::seconds patience{20};

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // its own, so that it does not matter what ranks wait for on the other
  bool broken_ = false;
};

}  // namespace diffsim::app
