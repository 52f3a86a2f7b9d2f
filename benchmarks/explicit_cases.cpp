// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "explicit_cases.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "diffsim/inverse/losses.hpp"

namespace diffsim {

State displaced(const DifferentiableScene& solver) {
  State state = solver.initial_state();
  std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 1.0 + 0.01 * std::sin(static_cast<double>(i % 3) + 1.0);
  state["positions"].from_host(x);
  return state;
}

void measure_gradient(benchmark::State& bench, const DifferentiableScene& solver, DifferentiableSimulator& simulator,
                      int num_steps) {
  const TetrahedralMesh& mesh = *solver.mesh();
  TargetPositionLoss loss(mesh, mesh.region("all"), {0.0, 0.0, 0.0}, num_steps);
  const auto run = [&] {
    simulator.rollout(num_steps, 0, loss);
    simulator.backward();
  };
  run();  // allocates the memory for states and records
  double forward = 0.0, backward = 0.0;
  for (auto _ : bench) {
    run();
    forward += simulator.statistics().forward_seconds;
    backward += simulator.statistics().backward_seconds;
  }
  bench.counters["(fwd+bwd)/fwd"] = (forward + backward) / forward;
}

std::vector<std::int64_t> numbers_of(const char* variable, const char* otherwise) {
  const char* const given = std::getenv(variable);
  std::istringstream text(given ? given : otherwise);
  std::vector<std::int64_t> numbers;
  for (std::string word; std::getline(text, word, ',');) numbers.push_back(std::stoll(word));
  return numbers;
}

void set_options(benchmark::internal::Benchmark* bench) {
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t count : numbers_of("DIFFSIM_BENCH_ITERATIONS", "")) bench->Iterations(count);
}

}  // namespace diffsim
