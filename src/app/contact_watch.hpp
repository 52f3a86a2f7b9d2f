// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "app/job.hpp"
#include "app/report.hpp"
#include "contact/contact_term.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Collects contact statistics during a rollout, for the report.
class ContactWatch {
 public:
  /// `scene`: scene from which `solver` was created. `solver` must outlive the ContactWatch.
  ContactWatch(const Scene& scene, DifferentiableScene& solver);

  /// Returns the contact quantities of `state`, the state after n steps: smallest gap, numbers of active pairs and of
  /// intersections, and friction power. Adds these quantities to the statistics that `write` reports. Returns no value
  /// if the scene has no contact forces (`DifferentiableScene::has_contact_forces`). Collective.
  std::optional<ContactState> observe(int n, const State& state);
  /// Writes the mapping `contact` to the report; writes nothing if the scene has no contact forces. The mapping
  /// `contact` contains the minimum of `min_distance` (m), the maximum of `active_pairs` and the sum of `intersections`
  /// (ContactState) over all observed states. The value of the key `friction_work` (J) is the integral of the friction
  /// power over time, by the trapezoidal rule. The value of the key `barrier_stiffness` (Pa) is the barrier stiffness
  /// that the scene gives or that was chosen adaptively.
  void write(Report& report) const;
  /// Warns if the smallest gap of an observed state was less than a thousandth of the barrier distance d̂. The
  /// warning names the first state with such a gap, and the two surfaces with the largest contact force in this state.
  /// There is no warning if a pair of surfaces has another law than `barrier`, whose gaps may be negative.
  void warn_about_gaps(Job& job) const;

 private:
  void note_small_gap(int n, const State& state, double gap);
  DifferentiableScene& solver_;
  ContactState worst_;
  double barrier_distance_ = 0.0;  // smallest d̂ of all pairs, m; 0 if a pair has another law than `barrier`
  int worst_step_ = 0;             // step of the smallest gap
  /// First state with a gap below the limit.
  struct SmallGap {
    int step;
    std::string surfaces;
  };
  std::optional<SmallGap> small_gap_;
  double friction_work_ = 0.0;
  std::optional<double> power_;  // friction power at the last observed step, W
};

}  // namespace diffsim::app
