// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/report.hpp"
#include "diffsim/contact/contact_term.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim::app {

/// Follows how a body touches during a rollout, for the report.
class ContactWatch {
 public:
  explicit ContactWatch(DifferentiableSolver& solver) : solver_(solver) {}

  void observe(int n, const State& state);  ///< collective
  /// `contact`: `min_distance`, m, the least of all steps; `active_pairs`, the most of any step; `intersections`, the
  /// sum over the steps. Nothing without contact.
  void write(Report& report) const;

 private:
  DifferentiableSolver& solver_;
  ContactState worst_;
};

}  // namespace diffsim::app
