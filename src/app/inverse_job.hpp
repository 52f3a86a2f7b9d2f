// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "app/job.hpp"
#include "app/progress.hpp"
#include "app/setup.hpp"

namespace diffsim::app {

/// What `gradient`, `check` and `invert` share: the problem that a scene poses. Making it begins the job.
struct InverseJob {
  explicit InverseJob(Job& job);

  std::shared_ptr<TetrahedralMesh> mesh;
  std::unique_ptr<DifferentiableSolver> solver;
  Progress progress;
  std::unique_ptr<SumLoss> objectives;
  std::unique_ptr<WatchedLoss> loss;
  std::unique_ptr<Store> store;
  std::unique_ptr<InverseProblem> problem;

  /// Seconds of all sweeps so far, into the report.
  void report_seconds();

 private:
  void add_statistics();

  Job& job_;
  double forward_seconds_ = 0.0;
  double backward_seconds_ = 0.0;
};

/// ‖all numbers of the gradient file‖₂. Collective.
double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients);

}  // namespace diffsim::app
