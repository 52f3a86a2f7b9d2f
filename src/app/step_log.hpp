// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "app/job.hpp"
#include "contact/contact_term.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim::app {

/// Writes the table `output.log`: one row for each state of a run. For implicit integrators, a row contains the
/// counters of Newton's method for the step that computed the state. For scenes with contact forces
/// (`DifferentiableScene::has_contact_forces`), a row contains the smallest gap, the number of active contact pairs and
/// the number of intersections. Each row is written to the file during the run, as soon as the state is computed. A
/// StepLog does nothing if the scene has no key `output.log`.
class StepLog {
 public:
  /// Opens the file of the table `output.log`. `resumed`: number of the state at which a stopped run is continued; the
  /// rows of the stopped run up to this state remain in the table if the columns of the table are unchanged. `resumed`
  /// has no value for a run that does not continue a stopped run. Throws Error (system) if the file of the table
  /// `output.log` cannot be written. All members are collective.
  StepLog(Job& job, DifferentiableScene& solver, std::optional<int> resumed);

  /// Writes the table row of the state after n steps, unless the table already contains this row from a stopped run.
  /// `contact`: contact quantities of the state after n steps; no value if the scene has no contact forces.
  void add(int n, const std::optional<ContactState>& contact);
  /// Throws Error (system) if a row of the table `output.log` could not be written.
  void finish();

 private:
  void require_written();
  /// Returns the rows of the existing table `output.log` up to state `last`, or an empty text if the header of the
  /// table is not `header`. Sets the member `kept_` to `last` if the existing table has a row of state `last`.
  std::string rows_until(int last, const std::string& header);

  Job& job_;
  std::string path_;
  const ImplicitModel* model_;  // nullptr for explicit integrators
  ImplicitStatistics before_;   // statistics at the previous row
  int kept_ = -1;               // state at which the run continues, if the table has a row of this state, else -1
  std::ofstream file_;          // open on rank 0 only
};

}  // namespace diffsim::app
