// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_coupling.hpp"

#include <algorithm>

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

CouplingWeights coupling_weights(double ratio, bool turns, bool leader_turns) {
  if (turns != leader_turns) {
    if (turns) return {1.0, ratio, true};
    return {1.0 / ratio, 1.0, true};  // a screw: the coordinate of the rotation must have an integer weight
  }
  if (!turns) return {1.0, ratio, false};
  // With a weight α, the follower's rotation is known modulo 2π/α, so a large α would limit the rotation per step.
  constexpr int largest = 50;
  for (int denominator = 1; denominator <= largest; ++denominator) {
    const double numerator = std::round(denominator * ratio);
    if (std::abs(denominator * ratio - numerator) > 1e-12 * std::max(1.0, std::abs(numerator))) continue;
    return {static_cast<double>(denominator), numerator, true};
  }
  return {1.0, ratio, false};
}

}  // namespace diffsim::body
