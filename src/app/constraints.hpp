// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/report_value.hpp"
#include "app/scene.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::app {

/// Constraints of a scene.
class SceneConstraints {
 public:
  /// `problem`: inverse problem of the scene, before the first evaluation. `checkpoints`: options of the additional
  /// sweeps. Throws InputError for the mean of a parameter with vector values, and for a constraint of a sensor in a
  /// scene with experiments. Collective.
  SceneConstraints(const Scene& scene, DifferentiableScene& solver, InverseProblem& problem,
                   const CheckpointOptions& checkpoints);

  const std::vector<Constraint>& all() const { return constraints_; }
  /// Pairs of name and problem for each constraint of a sensor. The constraint's function is computed from the loss of
  /// the problem.
  const std::vector<std::pair<std::string, std::unique_ptr<InverseProblem>>>& problems() const { return problems_; }
  /// Sets the penalty of unknown k in all problems of constraints.
  void set_penalty(std::size_t k, double penalty);
  /// Returns name, value and bounds of each constraint, for the report.
  ReportValue report(const std::vector<double>& values) const;

 private:
  std::vector<std::unique_ptr<Loss>> losses_;
  std::vector<std::pair<std::string, std::unique_ptr<InverseProblem>>> problems_;
  std::vector<Constraint> constraints_;
};

}  // namespace diffsim::app
