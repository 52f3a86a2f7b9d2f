// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/contact_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "dynamics/system_model.hpp"

namespace diffsim::app {

/// Ratio of gap and barrier distance below which a gap is reported.
constexpr double smallest_ratio = 1e-3;

ContactWatch::ContactWatch(const Scene& scene, DifferentiableScene& solver) : solver_(solver) {
  if (!scene.contact) return;
  const ContactOptions& options = scene.contact->options;
  const auto is_barrier = [&](const ContactPair& pair) {
    return !pair.touch || pair.law.value_or(options.law) == ContactLawKind::barrier;
  };
  if (options.law != ContactLawKind::barrier || !std::all_of(options.pairs.begin(), options.pairs.end(), is_barrier))
    return;
  barrier_distance_ = options.barrier_distance;
  for (const ContactPair& pair : options.pairs)
    if (pair.touch) barrier_distance_ = std::min(barrier_distance_, pair.barrier_distance.value_or(barrier_distance_));
}

/// Records the state after n steps if its smallest gap is the smallest so far, or the first below the limit.
void ContactWatch::note_small_gap(int n, const State& state, double gap) {
  if (gap < worst_.min_distance) worst_step_ = n;
  if (small_gap_ || barrier_distance_ == 0.0 || !(gap < smallest_ratio * barrier_distance_)) return;
  small_gap_ = SmallGap{n, ""};
  double largest = 0.0;
  for (const ContactForce& one : solver_.contact_forces(n, state)) {
    const double force = std::hypot(one.force[0], one.force[1], one.force[2]);
    if (!(force > largest)) continue;
    largest = force;
    small_gap_->surfaces = one.between[0] + " and " + one.between[1];
  }
}

void ContactWatch::warn_about_gaps(Job& job) const {
  if (!small_gap_) return;
  job.warn(fmt::format(
      "gaps of contact fall below a thousandth of the barrier distance, {:.3g} m, first in step {}; the smallest gap, "
      "{:.3g} m, is that of step {}{}. The barrier force is very stiff at such gaps: give a larger "
      "contact.barrier_stiffness, or a smaller solver.dt",
      barrier_distance_, small_gap_->step, worst_.min_distance, worst_step_,
      small_gap_->surfaces.empty() ? ""
                                   : ". At step " + std::to_string(small_gap_->step) + ", the contact force between " +
                                         small_gap_->surfaces + " is the largest"));
}

std::optional<ContactState> ContactWatch::observe(int n, const State& state) {
  if (!solver_.has_contact_forces()) return {};
  const ContactState now = solver_.contact_state(n, state);
  note_small_gap(n, state, now.min_distance);
  worst_.min_distance = std::min(worst_.min_distance, now.min_distance);
  worst_.active_pairs = std::max(worst_.active_pairs, now.active_pairs);
  worst_.intersections += now.intersections;
  if (power_) friction_work_ += 0.5 * solver_.dt() * (*power_ + now.friction_power);
  power_ = now.friction_power;
  return now;
}

void ContactWatch::write(Report& report) const {
  if (!solver_.has_contact_forces()) return;
  ReportValue& contact = report["contact"];
  contact["min_distance"];
  if (std::isfinite(worst_.min_distance)) contact["min_distance"] = worst_.min_distance;
  contact["active_pairs"] = worst_.active_pairs;
  contact["intersections"] = worst_.intersections;
  contact["friction_work"] = friction_work_;
  contact["barrier_stiffness"] = solver_.parameters().at("barrier_stiffness").field.to_host().at(0);
}

}  // namespace diffsim::app
