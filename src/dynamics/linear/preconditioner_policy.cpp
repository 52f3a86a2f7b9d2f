// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/preconditioner_policy.hpp"

#include <algorithm>
#include <cmath>

namespace diffsim::dynamics {
namespace {

/// Returns the number of decimal digits by which a solve to `tolerance` reduces the residual, at least 0.5.
double digits_of(double tolerance) { return std::max(0.5, -std::log10(tolerance)); }

}  // namespace

void PreconditionerPolicy::begin_rollout() {
  on_reference_ = false;
  renews_ = true;
}

void PreconditionerPolicy::begin_step(bool has_reference) {
  on_reference_ = has_reference;
  renews_ = true;
  keeps_ = false;
  extra_ = 0.0;
}

void PreconditionerPolicy::begin_derivatives(bool has_reference, bool has_main) {
  if (has_reference || !has_main || renews_ || extra_ >= setting_up) begin_step(has_reference);
  keeps_ = true;
}

double PreconditionerPolicy::expected(double tolerance) const {
  if (on_reference_) return reference_iterations_ * std::max(1.0, -std::log10(tolerance) / 3.0);
  return rate_ * digits_of(tolerance);
}

void PreconditionerPolicy::record_shared(bool converged, int iterations, double tolerance) {
  extra_ += iterations - 1.25 * expected(tolerance);
  if (on_reference_) {
    on_reference_ = converged && extra_ < setting_up;
    return;
  }
  extra_ = std::max(extra_, 0.0);
  if (converged) rate_ = std::min(rate_, iterations / digits_of(tolerance));
  renews_ = !converged || extra_ >= setting_up;
}

void PreconditionerPolicy::record_main(int iterations, double tolerance) {
  const double rate = iterations / digits_of(tolerance);
  if (renews_) {
    rate_ = rate;
    extra_ = 0.0;
  }
  renews_ = rate > 2.0 * rate_ + 2.0;
}

}  // namespace diffsim::dynamics
