// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <utility>

namespace diffsim {

/// STREAM's triad, a = b + 3 c, on three arrays of 320 MB per rank. The counter sums over all ranks, with 24 B per
/// entry. The triad is the reference for the other benchmarks of a run.
void triad(benchmark::State& bench);

/// Returns a function that runs the triad once and moves `triad_bytes` per rank, for alternation with another kernel.
std::function<void()> make_triad();
inline constexpr double triad_bytes = 24.0 * 40000000;

/// Returns the shortest times of `one` and `other`, s, over `times` runs in total, three of each in turn, so that other
/// programs on the machine affect both alike. All ranks start together, and the slowest rank counts. Collective.
std::pair<double, double> fastest_alternated(int times, const std::function<void()>& one,
                                             const std::function<void()>& other);

}  // namespace diffsim
