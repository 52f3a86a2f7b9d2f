// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <utility>

namespace diffsim {

/// STREAM's triad, a = b + 3 c on three arrays of 320 MB a rank, 24 B counted an entry, all ranks together: what the
/// benchmarks of a run stand beside.
void triad(benchmark::State& bench);

/// One sweep of it, which moves `triad_bytes` a rank: for what is to alternate with it.
std::function<void()> make_triad();
inline constexpr double triad_bytes = 24.0 * 40000000;

/// The fastest of `times` runs in seconds, three of one and three of the other in turn: what others do on the
/// machine meets both alike. Ranks begin together, and the last counts. Collective.
std::pair<double, double> fastest_alternated(int times, const std::function<void()>& one,
                                             const std::function<void()>& other);

}  // namespace diffsim
