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

/// Inverse problem of a scene, for the commands `tangent`, `gradient`, `check` and `invert`. The constructor reads the
/// input, and creates the output folder (`Job::begin`).
struct InverseJob {
  explicit InverseJob(Job& job);

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableScene> solver;
  Progress progress;
  std::unique_ptr<SumLoss> objectives;
  std::unique_ptr<WatchedLoss> loss;  ///< for `check`: `objectives`, with a display of the progress; otherwise nullptr
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
  /// Text that states why the gradient is approximate; empty if the gradient is exact.
  const std::string& approximation() const { return approximation_; }
  /// Writes the attribute `approximate` (0 or 1) to the root of a result file. If the gradient is approximate, also
  /// writes the text `approximation()` as the attribute `approximation`.
  void label(Hdf5File& file) const;
  /// Returns zeros for each of the Model's parameters that is an unknown, in the layout of a gradient.
  ParameterSet asked_gradient() const;
  /// Returns freed memory to the operating system if a memory budget is given, so that later allocations stay within
  /// the budget.
  void make_room() const;
  /// Adds to the report, for each experiment, the factor by which the norm of the adjoint ∂L/∂x[n] of the states has
  /// grown in the last reverse run (AdjointHistory::Growth). Warns if the factor is greater than `large_growth`. If the
  /// scene has the key `output.adjoint_log`, writes the table of the norms for the first experiment.
  void report_adjoint();
  /// Adds to the report, summed over all gradients and products with the Hessian of `problem` so far, added experiments
  /// excluded: the run times of forward runs and reverse runs, and the numbers of executed steps and of written and
  /// read snapshots. Also adds the checkpoint plans and the result of `report_solver`.
  void report_sweeps();
  /// Removes the checkpoint directory, from which an interrupted run can be resumed. Called after a successful run.
  void finish();

 private:
  std::vector<Unknown> read_scene();
  void make_problem(std::vector<Unknown> unknowns);
  void make_experiments();
  /// Sets an observer that records, in an AdjointHistory, the norms of the adjoint in the gradients of the problem
  /// `of`.
  void watch_adjoint(InverseProblem& of);
  void make_constraints();
  void make_further_problems();
  void require_reach() const;
  void make_resumable(const CheckpointOptions& options);
  enum Sweep { of_gradient, of_product };
  std::unique_ptr<Schedule> next_schedule(Sweep sweep, int num_steps);
  void add_statistics();
  void make_plan(Sweep sweep, int num_steps);

  Job& job_;
  std::vector<std::unique_ptr<AdjointHistory>> adjoint_histories_;  // one per experiment
  CheckpointOptions checkpoint_;  // the scene's options, changed by `exact` for `check`; defaults for `tangent`
  std::string approximation_;
  std::unique_ptr<StopRequest> stop_;
  std::shared_ptr<CheckpointDirectory> directory_;
  std::optional<SweepJournal> journal_;
  std::optional<EvaluationLog> log_;
  std::array<std::optional<SweepPlan>, 2> plans_;          // index: Sweep; plan of all sweeps of this kind
  std::array<std::optional<SweepForecast>, 2> forecasts_;  // index: Sweep; forecast of a sweep; first rank only
  std::optional<SweepProgress> watch_;                     // first rank only
  SweepStatistics done_;
};

/// Adds the loss of each experiment, from the last evaluation of `problem`, to the report, and prints these losses.
/// Does nothing for a scene without `experiments`.
void report_experiments(Job& job, const InverseProblem& problem);

/// Returns the Euclidean norm of the derivatives of the loss with respect to the physical values of all unknowns.
/// `gradients[k]`: derivatives for unknown k (`InverseProblem::physical_gradient`). Collective.
double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients);

}  // namespace diffsim::app
