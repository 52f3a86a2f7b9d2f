// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "diffsim/simulation/simulator.hpp"

// Parts of the benchmarks of explicit dynamics.

namespace diffsim {

/// The initial state, displaced a little, so that no stress is zero.
State displaced(const DifferentiableSolver& solver);

/// Measures the forward and the backward sweep of rollouts of `num_steps` steps, every state kept. The counter
/// `(fwd+bwd)/fwd` is the time of both over that of the forward sweep.
void measure_gradient(benchmark::State& bench, const DifferentiableSolver& solver, DifferentiableSimulator& simulator,
                      int num_steps);

/// Numbers, with commas between, of an environment variable, or of `otherwise`.
std::vector<std::int64_t> numbers_of(const char* variable, const char* otherwise);

/// Real time in ms; iterations as DIFFSIM_BENCH_ITERATIONS says, if it is set.
void set_options(benchmark::internal::Benchmark* bench);

}  // namespace diffsim
