// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "app/report.hpp"
#include "diffsim/contact/contact_term.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim::app {

/// Follows how a body touches during a rollout, for the report.
class ContactWatch {
 public:
  explicit ContactWatch(DifferentiableSolver& solver) : solver_(solver) {}

  /// How step n's state touches; nothing without contact. Collective.
  std::optional<ContactState> observe(int n, const State& state);
  /// `contact`: `min_distance`, m, the least of all steps; `active_pairs`, the most of any step; `intersections`, the
  /// sum over the steps; `friction_work`, J, that friction took of the body and of obstacles that move, by the
  /// trapezoidal rule over the steps; `barrier_stiffness`, Pa, as given or chosen. Nothing without contact.
  void write(Report& report) const;

 private:
  DifferentiableSolver& solver_;
  ContactState worst_;
  double friction_work_ = 0.0;
  std::optional<double> power_;  // at the last step seen
};

}  // namespace diffsim::app
