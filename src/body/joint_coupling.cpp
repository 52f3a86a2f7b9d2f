// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_coupling.hpp"

#include <algorithm>

#include "body/joint_coordinate.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::body {

void require_coupling(const Joint& joint, const Joint& leader) {
  require_coordinate(joint);
  require_coordinate(leader);
  if (!(std::isfinite(joint.ratio) && joint.ratio != 0.0))
    throw Error("joint '" + joint.name + "' follows joint '" + leader.name + "' with the ratio " +
                    std::to_string(joint.ratio) + "; give a finite ratio that is not zero",
                ErrorKind::input);
}

void set_weights(double ratio, JointCoupling& coupling) {
  const bool turns = coupling.follower.is_rotation, leader_turns = coupling.leader.is_rotation;
  coupling.alpha = 1.0;
  coupling.beta = ratio;
  coupling.is_periodic = turns != leader_turns;
  if (!turns && leader_turns) {  // a screw: the coordinate of the rotation must have an integer weight
    coupling.alpha = 1.0 / ratio;
    coupling.beta = 1.0;
  }
  if (!turns || !leader_turns) return;
  // With a weight α, the follower's rotation is known modulo 2π/α, so a large α would limit the rotation per step.
  constexpr int largest = 50;
  for (int denominator = 1; denominator <= largest && !coupling.is_periodic; ++denominator) {
    const double numerator = std::round(denominator * ratio);
    if (std::abs(denominator * ratio - numerator) > 1e-12 * std::max(1.0, std::abs(numerator))) continue;
    coupling.alpha = denominator;
    coupling.beta = numerator;
    coupling.is_periodic = true;
  }
}

}  // namespace diffsim::body
