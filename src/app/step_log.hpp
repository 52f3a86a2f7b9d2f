// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <optional>

#include "app/job.hpp"
#include "diffsim/contact/contact_term.hpp"
#include "diffsim/dynamics/implicit_model.hpp"

namespace diffsim::app {

/// The table of `output.log`: a row for each state of a run, with what its step took of Newton's method and how it
/// touches. Rows are written as the run goes on. Nothing where the scene asks for no table.
class StepLog {
 public:
  /// Throws Error (system) where the file cannot be written. Collective, as the others.
  StepLog(Job& job, DifferentiableSolver& solver);

  /// The row of state n, and of the step that led to it.
  void add(int n, const std::optional<ContactState>& contact);
  /// Throws Error (system) where a row could not be written.
  void finish();

 private:
  void require_written();

  Job& job_;
  std::string path_;
  const ImplicitModel* model_;  // nullptr: explicit
  ImplicitStatistics before_;   // at the last row
  std::ofstream file_;          // rank 0's
};

}  // namespace diffsim::app
