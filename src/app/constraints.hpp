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

/// Scene, solver and inverse problem of an experiment, or of a scene without `experiments`. The inverse problem of an
/// experiment must not be evaluated before SceneConstraints are created.
struct ConstrainedExperiment {
  const Scene& scene;
  DifferentiableScene& solver;
  InverseProblem& problem;
};

/// Constraints of an optimisation, created from the section `constraints` of a scene. A constraint on the value of a
/// sensor holds in one experiment or, separately, in each experiment.
class SceneConstraints {
 public:
  /// `experiments`: all experiments of the scene; the optimiser varies the unknowns of the first experiment's inverse
  /// problem. `checkpoints`: checkpoint options of the forward and reverse runs that compute the values and gradients
  /// of constraints on sensors. Throws InputError for a constraint on the mean of a parameter whose values are vectors.
  /// Collective.
  SceneConstraints(const std::vector<ConstrainedExperiment>& experiments, const CheckpointOptions& checkpoints);

  const std::vector<Constraint>& all() const { return constraints_; }
  /// Functions of those constraints that are not constraints on sensors: means of parameters, and quantities of the
  /// rest shape.
  const std::vector<std::shared_ptr<ConstraintFunction>>& of_parameters() const { return of_parameters_; }
  /// Name of each constraint on the value of a sensor, and an InverseProblem whose loss is the sensor's value;
  /// make_loss_function() creates the function of the constraint from this InverseProblem.
  const std::vector<std::pair<std::string, std::unique_ptr<InverseProblem>>>& problems() const { return problems_; }
  /// Sets the exponent `MaterialDistribution::penalty` of unknown k in all InverseProblems of `problems()`.
  void set_penalty(std::size_t k, double penalty);
  /// Returns a list for the report: name, value and finite bounds of each constraint. `values`: values of the
  /// constraints' functions, in the order of the list `all()` of constraints.
  ReportValue report(const std::vector<double>& values) const;

 private:
  void add_of_sensor(const ConstraintEntry& entry, const ConstrainedExperiment& experiment,
                     const CheckpointOptions& checkpoints);
  std::vector<std::unique_ptr<Loss>> losses_;
  std::vector<std::pair<std::string, std::unique_ptr<InverseProblem>>> problems_;
  std::vector<std::shared_ptr<ConstraintFunction>> of_parameters_;
  std::vector<Constraint> constraints_;
};

}  // namespace diffsim::app
