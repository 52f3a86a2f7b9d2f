// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Numbers of steps that a sweep (a forward run and the reverse run) with a given checkpointing schedule will execute.
struct SweepForecast {
  int num_steps = 0;
  int first = 0;   ///< number of the earliest time step whose adjoint is computed
  long steps = 0;  ///< number of executed steps, including recorded steps and repetitions
  /// Number of steps that are executed between the adjoint of step n and the end of the reverse run, for each step n.
  std::vector<long> left;
};

/// Counts the steps of `schedule` by calls of `Schedule::next` until the schedule ends. `schedule` cannot be used again
/// after `forecast` returns. If the number of steps is unknown to the schedule (`Schedule::is_open`), calls
/// `Schedule::finish(num_steps)` at state `num_steps`.
SweepForecast forecast(Schedule& schedule, int num_steps);

}  // namespace diffsim
