// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_coupling.hpp"

#include <algorithm>

#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

/// Returns the coordinates of the follower and of the leader at the positions x, without whole turns.
std::array<double, 2> coordinates(const JointCoupling& coupling, const NodeVectors<double>& x) {
  constexpr int half = JointCoordinate::num_nodes;
  const JointCoupling::NodeValues<double> values = coupling.at_nodes(x);
  Vec3<double> unused[half];
  return {coupling.follower(values.data(), unused), coupling.leader(values.data() + half, unused)};
}

}  // namespace

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

double whole_turns(const JointCoupling& coupling, const NodeVectors<double>& start, const NodeVectors<double>& x) {
  if (coupling.is_periodic || !(coupling.follower.is_rotation && coupling.leader.is_rotation)) return 0.0;
  constexpr double turn = 2.0 * std::numbers::pi;
  const std::array<double, 2> from = coordinates(coupling, start), to = coordinates(coupling, x);
  return turn *
         (coupling.alpha * std::round((from[0] - to[0]) / turn) - coupling.beta * std::round((from[1] - to[1]) / turn));
}

bool has_known_turns(const JointCoupling& coupling, const NodeVectors<double>& before,
                     const NodeVectors<double>& after) {
  constexpr double pi = std::numbers::pi;
  const std::array<double, 2> from = coordinates(coupling, before), to = coordinates(coupling, after);
  return std::abs(to[0] - from[0]) < pi && std::abs(to[1] - from[1]) < pi &&
         std::abs(coupling.alpha * to[0] - coupling.beta * to[1]) < pi;
}

}  // namespace diffsim::body
