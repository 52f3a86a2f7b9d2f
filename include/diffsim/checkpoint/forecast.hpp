// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// Numbers of the actions of a schedule.
struct SweepForecast {
  int num_steps = 0;
  int first = 0;           ///< steps before this one are not reversed
  long steps = 0;          ///< steps taken, recorded ones and repetitions included
  std::vector<long> left;  ///< of these, how many come after step n is reversed, for each n
};

/// Follows a schedule of its own to the end; an open one ends at `num_steps`.
SweepForecast forecast(Schedule& schedule, int num_steps);

}  // namespace diffsim
