// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/contact_watch.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/system_model.hpp"

namespace diffsim::app {

std::optional<ContactState> ContactWatch::observe(int n, const State& state) {
  if (!solver_.has_contact_forces()) return {};
  const ContactState now = solver_.contact_state(n, state);
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
