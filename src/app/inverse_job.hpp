// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "app/constraints.hpp"
#include "app/job.hpp"
#include "app/progress.hpp"
#include "app/setup.hpp"
#include "app/stop_request.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "inverse/adjoint_history.hpp"
#include "inverse/evaluation_log.hpp"

namespace diffsim::app {

/// Inverse problem of a scene, for the commands `tangent`, `gradient`, `check` and `invert`. The constructor calls
/// `job.begin()`.
struct InverseJob {
  explicit InverseJob(Job& job);

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableScene> solver;
  Progress progress;
  std::unique_ptr<SumLoss> objectives;
  std::unique_ptr<WatchedLoss> loss;  ///< for `check`, shows progress; otherwise nullptr
  std::unique_ptr<Store> store;
  std::unique_ptr<InverseProblem> problem;
  std::unique_ptr<SceneConstraints> constraints;  ///< for `invert` and `check`; otherwise nullptr
  /// Solver, loss and problem of an experiment other than the first. `InverseJob::problem` sums the losses of all
  /// experiments.
  struct Experiment {
    std::unique_ptr<DifferentiableScene> solver;
    std::unique_ptr<SumLoss> loss;
    std::unique_ptr<InverseProblem> problem;
  };
  std::vector<Experiment> further;

  /// Loss of the first experiment, or of a scene without `experiments`.
  Loss& objective() { return loss ? static_cast<Loss&>(*loss) : *objectives; }
  /// Description of the approximation in the gradient; empty if the gradient is exact.
  const std::string& approximation() const { return approximation_; }
  /// Writes the attributes `approximate` and `approximation` to a result file.
  void label(Hdf5File& file) const;
  /// Returns a gradient of zeros that contains the Model's parameters whose derivatives are requested.
  ParameterSet asked_gradient() const;
  /// Returns freed memory to the operating system if a memory budget is given, so that later allocations stay within
  /// the budget.
  void make_room() const;
  /// Reports the growth of the adjoint in the last gradient, for each experiment. Warns if the growth is large. Writes
  /// the table `output.adjoint_log`, if the scene requests the table, for the first experiment only.
  void report_adjoint();
  /// Adds to the report, for all sweeps so far: the run times of forward runs and reverse runs, the numbers of executed
  /// steps and of written and read snapshots, the statistics of implicit steps, and the checkpoint plans.
  void report_sweeps();
  /// Removes the checkpoint after a successful run.
  void finish();

 private:
  std::vector<Unknown> read_scene();
  void make_problem(std::vector<Unknown> unknowns);
  void make_experiments();
  /// Makes the gradients of a problem record the norms of the adjoint in an AdjointHistory.
  void watch_adjoint(InverseProblem& of);
  void add_experiments();
  void require_reach() const;
  void make_resumable(const CheckpointOptions& options);
  enum Sweep { of_gradient, of_product };
  std::unique_ptr<Schedule> next_schedule(Sweep sweep, int num_steps);
  void add_statistics();
  void make_plan(Sweep sweep, int num_steps);

  Job& job_;
  std::vector<std::unique_ptr<AdjointHistory>> adjoint_histories_;  // one per experiment
  CheckpointOptions checkpoint_;  // the scene's options; for `check`, changed by `exact`
  std::string approximation_;
  std::unique_ptr<StopRequest> stop_;
  std::shared_ptr<CheckpointDirectory> directory_;
  std::optional<SweepJournal> journal_;
  std::optional<EvaluationLog> log_;
  std::array<std::optional<SweepPlan>, 2> plans_;          // [Sweep]: plan of all sweeps of this kind
  std::array<std::optional<SweepForecast>, 2> forecasts_;  // [Sweep]: forecast of a sweep; first rank only
  std::optional<SweepProgress> watch_;                     // first rank only
  SweepStatistics done_;
};

/// Reports the loss of each experiment in the last evaluation of `problem`. Does nothing for a scene without
/// `experiments`.
void report_experiments(Job& job, const InverseProblem& problem);

/// Returns the Euclidean norm of `gradients`, the derivatives of the loss with respect to the physical values of each
/// unknown. Collective.
double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients);

}  // namespace diffsim::app
