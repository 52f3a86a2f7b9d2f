// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Number of steps that a sweep with a given schedule will execute.
struct SweepForecast {
  int num_steps = 0;
  int first = 0;           ///< first step that is reversed
  long steps = 0;          ///< number of executed steps, including recorded steps and repetitions
  std::vector<long> left;  ///< for each step n: number of steps executed after step n is reversed
};

/// Counts the steps of `schedule` by calls of `Schedule::next` until the schedule ends. The schedule cannot be used
/// again. If the number of steps is unknown to the schedule (`Schedule::is_open`), calls `Schedule::finish(num_steps)`
/// at state `num_steps`.
SweepForecast forecast(Schedule& schedule, int num_steps);

}  // namespace diffsim
