// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/checkpoint/checkpoint_options.hpp"

namespace diffsim::python {

/// Options of checkpoints in memory, one every `every` steps.
inline CheckpointOptions uniform_checkpoints(int every) {
  return {.schedule = CheckpointSchedule::uniform, .every = every};
}

}  // namespace diffsim::python
