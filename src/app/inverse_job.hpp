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

/// Inverse problem of a scene, for the commands `tangent`, `gradient`, `check` and `invert`. The constructor of
/// InverseJob reads the input and creates the output folder (`Job::begin`).
struct InverseJob {
  explicit InverseJob(Job& job);

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableScene> solver;
  Progress progress;
  std::unique_ptr<SumLoss> objectives;
  /// Loss that forwards all calls to the loss `objectives` and shows the progress of the command `check`; nullptr for
  /// all other commands.
  std::unique_ptr<WatchedLoss> loss;
  std::unique_ptr<Store> store;
  std::unique_ptr<InverseProblem> problem;
  /// Constraints of the scene for the commands `invert` and `check`; nullptr for all other commands.
  std::unique_ptr<SceneConstraints> constraints;
  /// Solver, loss and inverse problem of an experiment other than the first. The loss of `InverseJob::problem` is the
  /// sum of the losses of all experiments.
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
  /// Writes the attribute `approximate` (0 or 1) to the root group of a result file and, if the gradient is
  /// approximate, the text `approximation()` as the attribute `approximation`.
  void label(Hdf5File& file) const;
  /// Returns a gradient of zeros, with one field for each of those parameters of the Model whose values are computed
  /// from the unknowns of `problem`.
  ParameterSet asked_gradient() const;
  /// Returns freed memory to the operating system if a memory budget is given, so that later allocations stay within
  /// the budget.
  void make_room() const;
  /// Examines the growth of the adjoint (AdjointHistory::Growth) in all gradients since the last call of
  /// `watch_growth`. Warns if the growth in an experiment exceeds `large_growth` (inverse/adjoint_history.hpp) for the
  /// first time. `iteration`: number of the iteration that the gradients belong to.
  void watch_growth(int iteration);
  /// Calls `watch_growth` for the last gradients. Adds to the report, for each experiment, the factor by which the norm
  /// of the adjoint ∂L/∂x[n] of the states has grown in the last reverse run (AdjointHistory::Growth) and, for the
  /// command `invert`, the largest factor that `watch_growth` has found.
  /// Warns if the adjoint vanishes towards the first step (`AdjointHistory::vanishes_before`). If the scene has the key
  /// `output.adjoint_log`, writes a table of the norms of the adjoint ∂L/∂x[n] in the first experiment.
  void report_adjoint();
  /// Warns about each unknown with respect to which all computed derivatives of the loss were exactly zero, unless the
  /// loss itself is zero, or the scene has constraints, which may depend on the unknown. `total`: loss of the run.
  /// Collective.
  void warn_about_independent_unknowns(double total);
  /// Adds to the report the run times of forward runs and reverse runs, and the numbers of executed steps, written
  /// snapshots and read snapshots. Each of these quantities is a sum over all gradients and products with the Hessian
  /// that `problem` has computed so far; experiments after the first are not included. Adds the checkpoint plans and
  /// the counters of implicit steps (`report_solver`) to the report.
  void report_sweeps();
  /// Removes the checkpoint directory, from which an interrupted run can be resumed; called after a successful run. If
  /// there is a checkpoint directory, `finish` first resets the members `constraints`, `problem` and `store`.
  void finish();

 private:
  std::vector<Unknown> read_scene();
  void make_problem(std::vector<Unknown> unknowns);
  void make_experiments();
  /// Sets an observer of the InverseProblem `of`; the observer records the norms of the adjoint of each gradient
  /// computation in an AdjointHistory.
  void watch_adjoint(InverseProblem& of);
  void make_constraints();
  void make_further_problems();
  void require_reach() const;
  void make_resumable(const CheckpointOptions& options);
  /// Kinds of sweeps, where a sweep is a forward run followed by a reverse run: a sweep computes a gradient, or a
  /// product with the Hessian.
  enum Sweep { of_gradient, of_product };
  std::unique_ptr<Schedule> next_schedule(Sweep sweep, int num_steps);
  void add_statistics();
  void make_plan(Sweep sweep, int num_steps);

  Job& job_;
  void warn_about_growth(std::size_t experiment, const AdjointHistory::Growth& growth, int iteration);
  void warn_about_decay(std::size_t experiment);
  /// Largest growth of the adjoint of an experiment, and the iteration in which the growth was found.
  struct LargestGrowth {
    AdjointHistory::Growth growth;
    int iteration = 0;
  };
  std::vector<std::unique_ptr<AdjointHistory>> adjoint_histories_;  // one per experiment
  std::vector<LargestGrowth> largest_growths_;                      // one per experiment
  int iteration_ = 0;                                               // last argument of watch_growth
  CheckpointOptions checkpoint_;  // of the scene; for `check`, changed by exact(); for `tangent`, the defaults
  std::string approximation_;
  std::unique_ptr<StopRequest> stop_;
  std::shared_ptr<CheckpointDirectory> directory_;
  std::optional<SweepJournal> journal_;
  std::optional<EvaluationLog> log_;
  std::array<std::optional<SweepPlan>, 2> plans_;          // index: Sweep; plan of all sweeps of one kind
  std::array<std::optional<SweepForecast>, 2> forecasts_;  // index: Sweep; forecast of a sweep; first rank only
  std::optional<SweepProgress> watch_;                     // first rank only
  SweepStatistics done_;
};

/// Adds the loss of each experiment, from the last evaluation of `problem`, to the report, and prints the loss of each
/// experiment. Does nothing for a scene without `experiments`.
void report_experiments(Job& job, const InverseProblem& problem);

/// Returns the Euclidean norm of the derivatives of the loss with respect to the physical values of all unknowns.
/// `gradients[k]`: derivatives with respect to the values of unknown k (`InverseProblem::physical_gradient`).
/// Collective.
double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients);

}  // namespace diffsim::app
