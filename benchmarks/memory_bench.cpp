// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Memory of an explicit rollout with gradients, at the end and at its peak, on a box of two million Tet4 cells. Figures
// are meaningful only if one benchmark is run at a time: --benchmark_filter=/uniform or /differing, with one rank or
// under mpirun.

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

/// Value of a line in /proc/self/status (VmRSS, or VmHWM, the peak), in bytes, summed over all ranks.
double process_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0.0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) kilobytes = std::stod(line.substr(name.size() + 1));
  MPI_Allreduce(MPI_IN_PLACE, &kilobytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 1024.0 * kilobytes;
}

/// Resets every rank's peak to its present memory. If the system refuses, the peak counts from the start of the
/// program.
void forget_peak() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::ofstream("/proc/self/clear_refs") << "5";
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Gradients with respect to Young's modulus and Poisson's ratio of every cell, with three snapshots. The parameters
/// are equal in all cells, as at the start of a search, or `differ`. The figures are bytes per cell in addition to the
/// process's memory before, and without the mesh file's own arrays: coordinates (24 B per vertex) and connectivity (16
/// B per cell). With several ranks, the ranks' peaks in each of the two phases are added, so the sum is an upper bound
/// of the peak of the total.
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
