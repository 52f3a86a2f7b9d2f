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
/// counters of Newton's method for the step that ended in this state. For scenes with contact, a row contains the
/// smallest gap and the numbers of active pairs and of intersections. Rows are written during the run. Does nothing if
/// the scene does not request the table.
class StepLog {
 public:
  /// Opens the file. `resumed`: number of the state at which a stopped run is continued; the rows up to this state
  /// remain in the table if the existing table has the same columns. Throws Error (system) if the file cannot be
  /// written. All members are collective.
  StepLog(Job& job, DifferentiableScene& solver, std::optional<int> resumed);

  /// Writes the row of the state after n steps. `contact`: contact quantities of this state; no value without contact.
  void add(int n, const std::optional<ContactState>& contact);
  /// Throws Error (system) if a row could not be written.
  void finish();

 private:
  void require_written();
  /// Returns the rows of the existing table up to state `last`, or nothing if the header of the table is not `header`.
  /// Sets `kept_` to `last` if the existing table has a row of state `last`.
  std::string rows_until(int last, const std::string& header);

  Job& job_;
  std::string path_;
  const ImplicitModel* model_;  // nullptr for explicit integrators
  ImplicitStatistics before_;   // statistics at the previous row
  int kept_ = -1;               // state at which the run continues, if the table has a row of this state, else -1
  std::ofstream file_;          // open on rank 0 only
};

}  // namespace diffsim::app
