// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "app/report.hpp"
#include "contact/contact_term.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Collects contact statistics during a rollout, for the report.
class ContactWatch {
 public:
  explicit ContactWatch(DifferentiableScene& solver) : solver_(solver) {}

  /// Returns the contact state at step n, and adds this state to the statistics. Returns no value if the scene has no
  /// contact. Collective.
  std::optional<ContactState> observe(int n, const State& state);
  /// Writes the entry `contact` of the report: `min_distance`, m, the minimum over all steps; `active_pairs`, the
  /// maximum over all steps; `intersections`, the sum over the steps; `friction_work`, J, the friction power integrated
  /// over time by the trapezoidal rule; `barrier_stiffness`, Pa, as given in the scene or chosen adaptively. Writes
  /// nothing if the scene has no contact.
  void write(Report& report) const;

 private:
  DifferentiableScene& solver_;
  ContactState worst_;
  double friction_work_ = 0.0;
  std::optional<double> power_;  // friction power at the last observed step, W
};

}  // namespace diffsim::app
