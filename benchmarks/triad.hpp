// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <utility>

namespace diffsim {

/// Measures the STREAM triad, a = b + 3 c, on three arrays of 320 MB per rank. The bytes per second are summed over all
/// ranks, with 24 B per entry. The triad is the reference for the other benchmarks of a run.
void triad(benchmark::State& bench);

/// Returns a function that runs the triad once, which reads and writes `triad_bytes` bytes per rank.
std::function<void()> make_triad();
inline constexpr double triad_bytes = 24.0 * 40000000;

/// Returns the shortest times of `one` and of `other`, s. After one run of each, there are `times` runs in total,
/// alternately three runs of `one` and three of `other`, so that other programs on the computer affect both functions
/// equally. All ranks start each run together; the time of a run is that of the slowest rank. Collective.
std::pair<double, double> fastest_alternated(int times, const std::function<void()>& one,
                                             const std::function<void()>& other);

}  // namespace diffsim
