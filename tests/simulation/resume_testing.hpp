// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/adjoint_sweep.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "io/failing_files.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::testing_simulation {

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Inverse problem on the ranks of a communicator, whose sweeps can be stopped and resumed from a checkpoint directory.
struct InterruptedSweep {
  using MakeSolver = std::function<DifferentiableScene(std::shared_ptr<TetrahedralMesh>)>;

  InterruptedSweep(MPI_Comm on, std::shared_ptr<TetrahedralMesh> of, int steps, std::vector<std::string> names,
                   const MakeSolver& make_solver)
      : comm(on), mesh(std::move(of)), num_steps(steps), asked(std::move(names)) {
    solver = std::make_unique<DifferentiableScene>(make_solver(mesh));
    for (const int step : {0, num_steps / 2, num_steps})
      loss.add(std::make_unique<TargetPositionLoss>(*mesh, mesh->region("x_max"), std::array<double, 3>{0.9, 0.2, 0.1},
                                                    step));
  }

  /// Runs a sweep and returns the loss and the gradients in the order of the file. `stop_at`: number of the poll at
  /// which the sweep is asked to stop; 0: the sweep runs to its end.
  std::vector<double> run(const CheckpointOptions& options, bool resume, int stop_at = 0, bool keep = true) {
    std::shared_ptr<CheckpointDirectory> directory;
    std::unique_ptr<SweepJournal> journal;
    const RowOrder order(mesh->comm());
    warnings.clear();
    if (keep) {
      CheckpointDirectory::Options how;
      how.keep = true;
      how.resume = resume;
      how.problem = {{"name", "resume_test"}};
      how.files = &files;
      how.warn = [this](const std::string& what) { warnings.push_back(what); };
      directory = std::make_shared<CheckpointDirectory>(comm, options.directory, how);
      journal = std::make_unique<SweepJournal>(directory, order, options.interval,
                                               [this, stop_at] { return ++polls >= stop_at && stop_at > 0; });
    }
    polls = 0;
    const std::unique_ptr<Store> store = make_store(options, comm, directory, &order);
    const std::unique_ptr<Schedule> schedule = make_schedule(options, num_steps);
    AdjointSweep sweep(solver->model(), loss, *schedule, *store, journal.get());
    State state = solver->initial_state(), adjoint = state.zero_like();
    ParameterSet gradient = solver->parameters().zero_like(asked);
    std::vector<double> result{
        sweep.forward(state, gradient, {}, [this](int n, const State&) { return n == num_steps; })};
    sweep.backward(adjoint);
    const std::vector<double> all = in_file_order(*mesh, gradient);
    result.insert(result.end(), all.begin(), all.end());
    statistics = sweep.statistics();
    if (directory) directory->remove_all();
    return result;
  }

  bool stops(const CheckpointOptions& options, bool resume, int stop_at) {
    try {
      (void)run(options, resume, stop_at);
      return false;
    } catch (const SweepStopped&) {
      return true;
    }
  }

  MPI_Comm comm;
  std::shared_ptr<TetrahedralMesh> mesh;
  int num_steps;
  std::vector<std::string> asked;
  std::unique_ptr<DifferentiableScene> solver;
  SumLoss loss;
  testing_io::FailingFiles files;  // file system that writes the checkpoints
  std::vector<std::string> warnings;
  SweepStatistics statistics;
  int polls = 0;
};

/// Value of an enumeration with the given name. `names`: names of the values 0, 1, …
template <class Enum, std::size_t N>
Enum named(const std::string& name, const std::array<const char*, N>& names) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

inline CheckpointOptions resumed_by(const std::string& schedule, const std::string& store, int every,
                                    const std::string& directory) {
  CheckpointOptions options;
  options.schedule = named<CheckpointSchedule>(schedule, checkpoint_schedules);
  options.store = named<CheckpointStore>(store, checkpoint_stores);
  options.every = every;
  options.snapshots = 4;
  options.levels = {{3, 0.0, 0.0, ""}, {4, 2.0, 1.0, ""}};
  options.directory = directory;
  options.interval = 1e9;
  return options;
}

/// Number of ranks of a run, and the poll at which the run is stopped; 0: the run continues to its end.
struct Leg {
  int ranks;
  int stop_at;
};

/// Runs one sweep in several legs with different numbers of ranks. Each leg resumes where the previous one stopped. The
/// last leg must have one rank. Returns the loss and the gradients on the first rank and an empty vector on the others.
/// `make`: makes the problem on a communicator. Collective.
template <class Make>
std::vector<double> relayed(const std::vector<Leg>& legs, const CheckpointOptions& options, const Make& make) {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::vector<double> found;
  bool resume = false;
  for (const Leg& leg : legs) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < leg.ranks ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
      {
        auto problem = make(comm);
        if (leg.stop_at > 0)
          EXPECT_TRUE(problem.stops(options, resume, leg.stop_at)) << leg.ranks;
        else
          found = problem.run(options, resume);
        EXPECT_TRUE(problem.warnings.empty()) << problem.warnings.front();
      }
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    resume = true;
  }
  return found;
}

/// Expects two results to agree: the loss and the gradients, with `counts` entries each. Errors are relative to the
/// largest entry of each part.
inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                        const std::vector<std::size_t>& counts, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    double scale = 0.0;
    for (std::size_t i = at; i < at + count; ++i) scale = std::max(scale, std::abs(expected[i]));
    for (const std::size_t end = at + count; at < end; ++at)
      EXPECT_NEAR(found[at], expected[at], tolerance * scale) << at;
  }
  EXPECT_EQ(at, found.size());
}

}  // namespace diffsim::testing_simulation
