// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Overhead of an adjoint sweep relative to the steps and adjoint steps that the schedule of the sweep requires. The
// schedule is two-level; the states at the boundaries of its segments are stored in HDF5 files with a journal, as in
// the runner, or in memory. Each iteration measures first the required steps and adjoint steps alone, then the sweep.
// `beyond_%` is the overhead of the sweep in wall time, in per cent. `beyond_cpu_%` is the overhead in processor time,
// which includes the thread that writes files and is not affected by other programs.
//
// DIFFSIM_BENCH_CELLS=1000000 sets the number of cells, DIFFSIM_BENCH_ITERATIONS=3 the number of iterations, and
// DIFFSIM_BENCH_DIRECTORY the folder of the HDF5 files.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include "adjoint/adjoint_sweep.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "checkpoint/two_level_schedule.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

constexpr int num_steps = 32, segment = 8, snapshots = 4;

std::string from_environment(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text ? text : otherwise;
}

/// Wall time until all ranks have finished, and processor time of all threads of this rank, s.
struct Seconds {
  double wall = 0.0, cpu = 0.0;
  Seconds& operator+=(const Seconds& other) {
    wall += other.wall;
    cpu += other.cpu;
    return *this;
  }
};

Seconds seconds_of(const std::function<void()>& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const std::clock_t cpu_start = std::clock();
  body();
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  return {MPI_Wtime() - start, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

/// Returns the numbers of steps without a record and of recorded steps that the schedule requires.
SweepStatistics counted(Schedule& schedule) {
  SweepStatistics count;
  for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next()) {
    if (action.kind == Action::Kind::advance) count.advances += action.end - action.begin;
    if (action.kind == Action::Kind::record) count.recordings += action.end - action.begin;
  }
  return count;
}

struct Problem {
  explicit Problem(std::int64_t cells) {
    const int n = static_cast<int>(std::lround(std::cbrt(static_cast<double>(cells) / 6.0)));
    mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {n, n, n});
    DifferentiableMaterial material{
        "neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
    solver = std::make_unique<DifferentiableScene>(mesh, std::vector{material},
                                                   DifferentiableSolver{.dt = 2e-4, .substeps = 4, .damping = 0.999});
    solver->fix("y_min");
    loss = std::make_unique<TargetPositionLoss>(*mesh, mesh->region("y_max"), std::array<double, 3>{0.5, 0.9, 0.5},
                                                num_steps);
    gradient = solver->parameters().zero_like({"youngs_modulus", "poisson_ratio"});
  }

  /// Measures `advances` steps without a record, and `recordings` steps with a record and their adjoint steps, without
  /// a schedule or a store.
  Seconds work(long advances, long recordings) {
    State state = solver->initial_state(), adjoint = state.zero_like();
    Model& model = solver->model();
    return seconds_of([&] {
      model.prepare();
      model.begin_adjoint(gradient);
      const std::unique_ptr<Record> record = model.make_record();
      loss->add_gradient(num_steps, state, model.parameters(), adjoint, gradient);
      for (long k = 0; k < advances; ++k) model.step(0, state, nullptr);
      for (long k = 0; k < recordings; ++k) {
        model.step(0, state, record.get());
        model.step_adjoint(0, *record, adjoint, gradient);
      }
      model.prepare_adjoint(gradient);
    });
  }

  Seconds sweep(CheckpointStore store_kind) {
    CheckpointOptions options;
    options.schedule = CheckpointSchedule::two_level;
    options.every = segment;
    options.snapshots = snapshots;
    options.store = store_kind;
    options.directory = from_environment("DIFFSIM_BENCH_DIRECTORY", "sweep_bench");
    const RowOrder order(mesh->comm());
    std::shared_ptr<CheckpointDirectory> directory;
    std::unique_ptr<SweepJournal> journal;
    if (store_kind != CheckpointStore::memory) {
      CheckpointDirectory::Options how;
      how.keep = true;
      directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, options.directory, how);
      journal = std::make_unique<SweepJournal>(directory, order, options.interval);
    }
    const std::unique_ptr<Store> store = make_store(options, MPI_COMM_WORLD, directory, &order);
    const std::unique_ptr<Schedule> schedule = make_schedule(options, num_steps);
    AdjointSweep one(solver->model(), *loss, *schedule, *store, journal.get());
    State state = solver->initial_state(), adjoint = state.zero_like();
    const Seconds seconds = seconds_of([&] {
      one.forward(state, gradient);
      one.backward(adjoint);
    });
    statistics = one.statistics();
    if (directory) directory->remove_all();
    return seconds;
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableScene> solver;
  std::unique_ptr<Loss> loss;
  ParameterSet gradient;
  SweepStatistics statistics;
};

void two_level(benchmark::State& bench, CheckpointStore store) {
  Problem problem(std::atoll(from_environment("DIFFSIM_BENCH_CELLS", "1000000").c_str()));
  TwoLevelSchedule schedule(num_steps, segment, snapshots);
  const SweepStatistics count = counted(schedule);
  (void)problem.work(1, 1);  // allocates memory
  Seconds work, sweep;
  for (auto _ : bench) {
    work += problem.work(count.advances, count.recordings);
    const Seconds seconds = problem.sweep(store);
    sweep += seconds;
    bench.SetIterationTime(seconds.wall);
  }
  if (problem.statistics.advances != count.advances || problem.statistics.recordings != count.recordings)
    bench.SkipWithError("the sweep took other steps than its schedule");
  bench.counters["cells"] = static_cast<double>(problem.mesh->num_global_cells());
  bench.counters["steps"] = static_cast<double>(count.advances + count.recordings);
  bench.counters["MB_written"] = 1e-6 * static_cast<double>(problem.statistics.bytes_written);
  bench.counters["s_waiting"] = problem.statistics.seconds_waiting;
  bench.counters["beyond_%"] = 100.0 * (sweep.wall / work.wall - 1.0);
  bench.counters["beyond_cpu_%"] = 100.0 * (sweep.cpu / work.cpu - 1.0);
}

const int iterations = std::atoi(from_environment("DIFFSIM_BENCH_ITERATIONS", "3").c_str());
BENCHMARK_CAPTURE(two_level, hdf5, CheckpointStore::tiered)
    ->Unit(benchmark::kSecond)
    ->UseManualTime()
    ->Iterations(iterations);
BENCHMARK_CAPTURE(two_level, memory, CheckpointStore::memory)
    ->Unit(benchmark::kSecond)
    ->UseManualTime()
    ->Iterations(iterations);

}  // namespace
}  // namespace diffsim
