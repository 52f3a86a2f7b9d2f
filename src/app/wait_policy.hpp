// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim::app {

/// Makes OpenMP threads sleep at barriers where this node's ranks have more threads than cores, unless OMP_WAIT_POLICY
/// says otherwise: threads that spin there keep the others from the work they wait for, for milliseconds a barrier.
/// OpenMP reads the variable before main, so the program starts itself anew once. Call first in main; Linux only, else
/// does nothing.
void sleep_when_oversubscribed(char** argv);

}  // namespace diffsim::app
