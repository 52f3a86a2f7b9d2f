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

  /// Returns the contact quantities (gap, numbers of pairs, friction power) of `state`, the state after n steps, and
  /// adds these quantities to the statistics. Returns no value if the scene has no contact. Collective.
  std::optional<ContactState> observe(int n, const State& state);
  /// Writes the key `contact` of the report; writes nothing if the scene has no contact. The value is a mapping with
  /// the minimum of `min_distance` (m), the maximum of `active_pairs` and the sum of `intersections` (ContactState)
  /// over all observed states. The key `friction_work` (J) of the mapping is the integral of the friction power over
  /// time, by the trapezoidal rule. The key `barrier_stiffness` (Pa) is the barrier stiffness of the scene, or the
  /// adaptively chosen stiffness.
  void write(Report& report) const;

 private:
  DifferentiableScene& solver_;
  ContactState worst_;
  double friction_work_ = 0.0;
  std::optional<double> power_;  // friction power at the last observed step, W
};

}  // namespace diffsim::app
