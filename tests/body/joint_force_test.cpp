// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of the work of a joint's drive.

#include "body/joint_force.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/work_derivatives.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body::joint_force_test {
namespace {

const std::array<Vector, 4> body_rest{{{0.1, 0.2, 0.0}, {1.3, 0.1, 0.2}, {0.2, 1.1, -0.1}, {0.0, 0.3, 0.9}}};
const std::array<Vector, 4> other_rest{{{1.1, 0.2, 0.5}, {2.0, 0.0, 0.4}, {1.3, 1.2, 0.6}, {1.0, 0.3, 1.7}}};

/// Case of the test: the kind of the joint, whether its other body is the world, and the friction velocity and the
/// limits, which determine the branches of friction and of the barrier.
struct Case {
  const char* name;
  JointKind kind;
  bool to_world;
  double friction_velocity, lower, upper;
};
constexpr double far = 1e9;
constexpr Case all_cases[] = {{"sticking_revolute", JointKind::revolute, false, 100.0, -far, far},
                              {"sliding_revolute", JointKind::revolute, false, 1e-3, -far, far},
                              {"revolute_to_world", JointKind::revolute, true, 100.0, -far, far},
                              {"revolute_near_lower", JointKind::revolute, false, 100.0, -0.4, far},
                              {"sticking_prismatic", JointKind::prismatic, false, 100.0, -far, far},
                              {"prismatic_near_both", JointKind::prismatic, true, 1e-3, -0.7, 0.9}};

class JointForceTest : public testing::TestWithParam<Case> {};

/// Returns positions and velocities of all nodes away from rest, and values of all parameters.
stencil::Values<JointForce> values_of(const Joint& joint) {
  stencil::Values<JointForce> at{};
  for (int k = 0; k < 24; ++k) {
    const auto node = static_cast<std::size_t>(k / 3), c = static_cast<std::size_t>(k % 3);
    at.x[k / 3][k % 3] = (node < 4 ? body_rest[node] : other_rest[node - 4])[c] + 0.05 * ((7 * k) % 11 - 5) / 5.0;
    at.v[k / 3][k % 3] = 0.3 * ((5 * k) % 13 - 6) / 6.0;
  }
  const double drive[] = {0.7, 2.5, 0.4, 0.9, 0.6, 1.3};
  for (int i = 0; i < 6; ++i) at.p[i] = drive[i];
  for (std::size_t c = 0; c < 3; ++c) {
    at.p[6 + c] = joint.point[c];
    at.p[9 + c] = joint.axis[c];
  }
  return at;
}

TEST_P(JointForceTest, has_the_derivatives_of_its_work) {
  const Case& one = GetParam();
  const Joint joint{"joint", one.kind, "body", one.to_world ? "" : "other", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}};
  const JointGeometry geometry =
      make_joint_geometry(joint, body_rest, one.to_world ? std::nullopt : std::optional(other_rest));
  const JointForce force{geometry, one.friction_velocity, one.lower, one.upper, 2.0};
  const stencil::Values<JointForce> at = values_of(joint);
  Vec3<double> f[JointForce::num_nodes];
  force.forces(at, f);
  Vec3<double> w[JointForce::num_nodes];
  for (int k = 0; k < 24; ++k) w[k / 3][k % 3] = ((11 * k) % 17 - 8) / 8.0;
  EXPECT_GT(dot(f[0], f[0]), 0.0);
  EXPECT_LE(error_of_work_derivatives(force, at, w), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(all, JointForceTest, testing::ValuesIn(all_cases),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace diffsim::body::joint_force_test
