// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "app/job.hpp"
#include "app/progress.hpp"
#include "app/setup.hpp"
#include "app/stop_request.hpp"
#include "diffsim/checkpoint/sweep_journal.hpp"
#include "diffsim/inverse/evaluation_log.hpp"

namespace diffsim::app {

/// The problem that a scene poses to `gradient`, `check` and `invert`. Making it begins the job.
struct InverseJob {
  explicit InverseJob(Job& job);

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableSolver> solver;
  Progress progress;
  std::unique_ptr<SumLoss> objectives;
  std::unique_ptr<WatchedLoss> loss;  ///< `check` only
  std::unique_ptr<Store> store;
  std::unique_ptr<InverseProblem> problem;

  /// The loss that the problem is posed with.
  Loss& objective() { return loss ? static_cast<Loss&>(*loss) : *objectives; }
  /// How the gradient is an approximation, empty if it is not.
  const std::string& approximation() const { return approximation_; }
  /// The same as attributes of a result.
  void label(Hdf5File& file) const;
  /// Zeroed, with the Model's parameters that the gradient is asked for by.
  ParameterSet asked_gradient() const;
  /// Where memory is planned: what was freed goes back to the system, for what comes next.
  void make_room() const;
  /// Reports the work of all sweeps so far.
  void report_sweeps();
  /// The run has what it was for: its checkpoint goes.
  void finish();

 private:
  void require_reach() const;
  void make_resumable(const CheckpointOptions& options);
  enum Sweep { of_gradient, of_product };
  std::unique_ptr<Schedule> next_schedule(Sweep sweep, int num_steps);
  void add_statistics();
  void make_plan(Sweep sweep, int num_steps);

  Job& job_;
  CheckpointOptions checkpoint_;  // the scene's; `check` takes the exact gradient
  std::string approximation_;
  std::unique_ptr<StopRequest> stop_;
  std::shared_ptr<CheckpointDirectory> directory_;
  std::optional<SweepJournal> journal_;
  std::optional<EvaluationLog> log_;
  std::array<std::optional<SweepPlan>, 2> plans_;          // by Sweep, as the next
  std::array<std::optional<SweepForecast>, 2> forecasts_;  // on the first rank
  std::optional<SweepProgress> watch_;                     // likewise
  SweepStatistics done_;
};

/// ‖all numbers of the gradient file‖₂. Collective.
double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients);

}  // namespace diffsim::app
