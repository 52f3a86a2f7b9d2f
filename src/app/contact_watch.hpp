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
  /// Writes the entry `contact` of the report; writes nothing if the scene has no contact. The entry contains the
  /// minimum of `min_distance` (m), the maximum of `active_pairs` and the sum of `intersections` over all observed
  /// states. The entry `friction_work` (J) is the friction power, integrated over time by the trapezoidal rule. The
  /// entry `barrier_stiffness` (Pa) is the value in the scene, or the adaptively chosen value.
  void write(Report& report) const;

 private:
  DifferentiableScene& solver_;
  ContactState worst_;
  double friction_work_ = 0.0;
  std::optional<double> power_;  // friction power at the last observed step, W
};

}  // namespace diffsim::app
