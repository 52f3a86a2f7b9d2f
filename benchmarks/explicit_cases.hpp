// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "diffsim/simulation/simulator.hpp"

// Functions shared by the benchmarks of explicit dynamics.

namespace diffsim {

/// Returns the initial state with small displacements added, so that no stress is zero.
State displaced(const DifferentiableScene& solver);

/// Measures the forward and the backward sweep of rollouts of `num_steps` steps with all states stored. The counter
/// `(fwd+bwd)/fwd` is the time of both sweeps divided by the time of the forward sweep.
void measure_gradient(benchmark::State& bench, const DifferentiableScene& solver, DifferentiableSimulator& simulator,
                      int num_steps);

/// Returns the comma-separated numbers in the environment variable `variable`, or in `otherwise` if the variable is not
/// set.
std::vector<std::int64_t> numbers_of(const char* variable, const char* otherwise);

/// Selects wall time in ms, and the number of iterations in DIFFSIM_BENCH_ITERATIONS if this variable is set.
void set_options(benchmark::internal::Benchmark* bench);

}  // namespace diffsim
