// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// What an adjoint sweep takes beyond the steps and adjoints that its schedule asks for: two-level, segments in HDF5 kept with a
// journal as the runner keeps them, against the same schedule in memory and against these steps and adjoints alone, one after
// the other in each iteration. `beyond_…` are per cent of the last.
//
// DIFFSIM_BENCH_CELLS=1000000 chooses the size, DIFFSIM_BENCH_ITERATIONS=3 how often, DIFFSIM_BENCH_DIRECTORY where files go.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "diffsim/checkpoint/sweep_journal.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/box.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

constexpr int num_steps = 32, segment = 8, snapshots = 4;

std::string from_environment(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text ? text : otherwise;
}

/// Seconds until all ranks are done.
double seconds_of(const std::function<void()>& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  body();
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

struct Problem {
  explicit Problem(std::int64_t cells) {
    const int n = static_cast<int>(std::lround(std::cbrt(static_cast<double>(cells) / 6.0)));
    mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {n, n, n});
    DifferentiableMaterial material{
        "neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
    solver = std::make_unique<DifferentiableSolver>(mesh, std::vector{material},
                                                    SolverOptions{.dt = 2e-4, .substeps = 4, .damping = 0.999});
    solver->fix("y_min");
    loss = std::make_unique<TargetPositionLoss>(*mesh, mesh->region("y_max"), std::array<double, 3>{0.5, 0.9, 0.5},
                                                num_steps);
    gradient = solver->parameters().zero_like({"youngs_modulus", "poisson_ratio"});
  }

  /// Steps, recorded steps and adjoints as counted, with nothing around them.
  double work(const SweepStatistics& counted) {
    State state = solver->initial_state(), adjoint = state.zero_like();
    Model& model = solver->model();
    model.prepare();
    model.begin_adjoint(gradient);
    const std::unique_ptr<Record> record = model.make_record();
    loss->add_gradient(num_steps, state, model.parameters(), adjoint, gradient);
    return seconds_of([&] {
      for (long k = 0; k < counted.advances; ++k) model.step(0, state, nullptr);
      for (long k = 0; k < counted.recordings; ++k) {
        model.step(0, state, record.get());
        model.step_adjoint(0, *record, adjoint, gradient);
      }
      model.prepare_adjoint(gradient);
    });
  }

  double sweep(const std::string& store_name) {
    CheckpointOptions options;
    options.schedule = "two_level";
    options.every = segment;
    options.snapshots = snapshots;
    options.store = store_name;
    options.directory = from_environment("DIFFSIM_BENCH_DIRECTORY", "sweep_bench");
    const RowOrder order(*mesh);
    std::shared_ptr<CheckpointDirectory> directory;
    std::unique_ptr<SweepJournal> journal;
    if (store_name != "memory") {
      CheckpointDirectory::Options how;
      how.keep = true;
      directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, options.directory, how);
      journal = std::make_unique<SweepJournal>(directory, order, options.interval);
    }
    const std::unique_ptr<Store> store = make_store(options, MPI_COMM_WORLD, directory, &order);
    const std::unique_ptr<Schedule> schedule = make_schedule(options, num_steps);
    AdjointSweep one(solver->model(), *loss, *schedule, *store, journal.get());
    State state = solver->initial_state(), adjoint = state.zero_like();
    const double seconds = seconds_of([&] {
      one.forward(state, gradient);
      one.backward(adjoint);
    });
    statistics = one.statistics();
    if (directory) directory->remove_all();
    return seconds;
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableSolver> solver;
  std::unique_ptr<Loss> loss;
  ParameterSet gradient;
  SweepStatistics statistics;
};

void two_level(benchmark::State& bench) {
  Problem problem(std::atoll(from_environment("DIFFSIM_BENCH_CELLS", "1000000").c_str()));
  (void)problem.sweep("memory");  // memory is allocated, and steps are counted
  const SweepStatistics counted = problem.statistics;
  double work = 0.0, memory = 0.0, disk = 0.0;
  for (auto _ : bench) {
    work += problem.work(counted);
    memory += problem.sweep("memory");
    const double seconds = problem.sweep("tiered");
    disk += seconds;
    bench.SetIterationTime(seconds);
  }
  bench.counters["cells"] = static_cast<double>(problem.mesh->num_global_cells());
  bench.counters["steps"] = static_cast<double>(counted.advances + counted.recordings);
  bench.counters["MB_written"] = 1e-6 * static_cast<double>(problem.statistics.bytes_written);
  bench.counters["s_waiting"] = problem.statistics.seconds_waiting;
  bench.counters["beyond_memory_%"] = 100.0 * (memory / work - 1.0);
  bench.counters["beyond_hdf5_%"] = 100.0 * (disk / work - 1.0);
}

BENCHMARK(two_level)
    ->Unit(benchmark::kSecond)
    ->UseManualTime()
    ->Iterations(std::atoi(from_environment("DIFFSIM_BENCH_ITERATIONS", "3").c_str()));

}  // namespace
}  // namespace diffsim
