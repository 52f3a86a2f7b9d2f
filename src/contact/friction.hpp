// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim::contact {

/// Factor s(y)/y (s/m) of smoothed Coulomb friction as a function of y² = `squared` (m²/s²), where y is the sliding
/// velocity: s(y) = 2 y/ε - (y/ε)² for y < ε, else 1, with ε = `velocity` (m/s). The sliding velocity y = √`squared`
/// has no derivative with respect to `squared` at y = 0. At y = 0, `friction_factor` therefore returns the limit 2/ε,
/// which does not depend on `squared`; the product of the factor and a sliding velocity vector u then has the correct
/// derivative 2/ε with respect to u.
template <class T>
DIFFSIM_FUNCTION T friction_factor(const T& squared, const T& velocity) {
  using std::sqrt;
  if (value_of(squared) == 0.0) return 2.0 / velocity;
  const T speed = sqrt(squared);
  if (value_of(speed) < value_of(velocity)) return (2.0 - speed / velocity) / velocity;
  return 1.0 / speed;
}

/// Potential S(y) (m/s) of smoothed Coulomb friction, where y = `speed` is the sliding velocity: the integral of the
/// function s of `friction_factor`. With ε = `velocity`, S(y) = y²/ε - y³/(3 ε²) for y < ε, else y - ε/3.
DIFFSIM_FUNCTION double friction_potential(double speed, double velocity) {
  if (speed >= velocity) return speed - velocity / 3.0;
  const double part = speed / velocity;
  return speed * part * (1.0 - part / 3.0);
}

}  // namespace diffsim::contact
