// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

namespace diffsim {

/// STREAM's triad, a = b + 3 c on three arrays of 320 MB a rank, 24 B counted an entry, all ranks together: what the
/// benchmarks of a run stand beside.
void triad(benchmark::State& bench);

}  // namespace diffsim
