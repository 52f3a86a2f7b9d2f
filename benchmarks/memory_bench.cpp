// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Memory use of an explicit rollout with gradients, at the end of the rollout and at its peak, on a box of two million
// Tet4 cells. The figures are meaningful only if each run executes a single benchmark, selected by
// --benchmark_filter=/uniform or --benchmark_filter=/differing. The number of ranks is arbitrary.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

/// Returns the value of the line `name` in /proc/self/status, in bytes, summed over all ranks. VmRSS is the present
/// memory of the process, VmHWM the peak.
double process_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0.0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) kilobytes = std::stod(line.substr(name.size() + 1));
  MPI_Allreduce(MPI_IN_PLACE, &kilobytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 1024.0 * kilobytes;
}

/// Resets the peak memory of every rank to the present memory of the rank. If the system does not permit the reset, the
/// peak since the start of the program is measured.
void forget_peak() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::ofstream("/proc/self/clear_refs") << "5";
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Measures the memory of gradients with respect to Young's modulus and Poisson's ratio of every cell, with three
/// snapshots. The parameters are equal in all cells, as at the start of an optimisation, or differ between cells if
/// `differ`. The counters are in bytes per cell. The counters exclude the memory of the process before the benchmark,
/// and the arrays that a mesh file contains: coordinates (24 B per vertex) and connectivity (16 B per cell). The peaks
/// of all ranks are added for each of the two phases, set-up and sweep. The sum is an upper bound of the peak of the
/// total memory.
void memory(benchmark::State& bench, bool differ) {
  constexpr int num_steps = 8, bricks = 69;
  for (auto _ : bench) {
    const double before = process_bytes("VmRSS");
    forget_peak();
    const double start = MPI_Wtime();
    const DifferentiableMaterial material{
        "neo_hookean", {{"density", 1000.0}, {"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}}, "all"};
    DifferentiableScene solver(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {bricks, bricks, bricks}),
                               {material}, {.dt = 2e-4, .substeps = 4, .damping = 0.999});
    solver.fix("y_min");
    const double seconds = MPI_Wtime() - start;
    const double set_up = process_bytes("VmRSS"), set_up_peak = process_bytes("VmHWM");
    forget_peak();
    if (differ) {
      Field& modulus = solver.parameters().at("youngs_modulus").field;
      std::vector<double> values = modulus.to_host();
      for (std::size_t cell = 0; cell < values.size(); ++cell)
        values[cell] *= 1.0 + 0.01 * static_cast<double>(cell % 7);
      modulus.from_host(values);
    }
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.0, 0.0, 0.0}, num_steps);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({"youngs_modulus", "poisson_ratio"});
    CheckpointOptions options;
    options.schedule = CheckpointSchedule::revolve;
    options.snapshots = 3;
    simulator.rollout(num_steps, options, loss);
    simulator.backward();
    const double end = process_bytes("VmRSS"), peak = std::max(set_up_peak, process_bytes("VmHWM"));
    const auto cells = static_cast<double>(solver.mesh()->num_global_cells());
    const double file = 24.0 * static_cast<double>(solver.mesh()->num_global_vertices()) + 16.0 * cells;
    const auto a_cell = [&](double bytes) { return (bytes - before - file) / cells; };
    bench.counters["cells"] = cells;
    bench.counters["set-up s"] = seconds;
    bench.counters["set-up B/tet"] = a_cell(set_up);
    bench.counters["set-up peak B/tet"] = a_cell(set_up_peak);
    bench.counters["end B/tet"] = a_cell(end);
    bench.counters["peak B/tet"] = a_cell(peak);
  }
}
BENCHMARK_CAPTURE(memory, uniform, false)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(memory, differing, true)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace diffsim
