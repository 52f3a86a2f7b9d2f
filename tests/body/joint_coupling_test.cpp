// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Constraints between the coordinates of two joints, and their first, second and third derivatives.

#include "body/joint_coupling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <vector>

#include "body/assembly.hpp"
#include "body/joint_constraints.hpp"
#include "body/joint_coordinate.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::body::joint_coupling_test {
namespace {

const std::array<Vector, 4> first_rest{{{0.1, 0.2, 0.0}, {1.3, 0.1, 0.2}, {0.2, 1.1, -0.1}, {0.0, 0.3, 0.9}}};
const std::array<Vector, 4> second_rest{{{1.1, 0.2, 0.5}, {2.0, 0.0, 0.4}, {1.3, 1.2, 0.6}, {1.0, 0.3, 1.7}}};

/// Joint of the first body with the second body, and joint of the second body with the world.
Joint follower_of(JointKind kind) { return {"follower", kind, "first", "second", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}}; }
Joint leader_of(JointKind kind) { return {"leader", kind, "second", "", {1.2, 0.1, 0.4}, {1.0, 0.4, -0.2}}; }

JointCoupling make_coupling(JointKind follower, JointKind leader, double ratio) {
  JointCoupling coupling{};
  coupling.follower =
      coordinate_of(follower_of(follower), make_joint_geometry(follower_of(follower), first_rest, second_rest));
  coupling.leader = coordinate_of(leader_of(leader), make_joint_geometry(leader_of(leader), second_rest, std::nullopt));
  for (int k = 0; k < JointCoupling::num_nodes; ++k)
    coupling.nodes[static_cast<std::size_t>(k)] = k < 4 ? k : 4 + k % 4;
  const auto [alpha, beta, is_periodic] =
      coupling_weights(ratio, coupling.follower.is_rotation, coupling.leader.is_rotation);
  coupling.alpha = alpha;
  coupling.beta = beta;
  coupling.is_periodic = is_periodic;
  return coupling;
}

/// Positions of both bodies after the second body has moved by `leader` along the leader's coordinate and the first
/// body by `follower` along the follower's coordinate.
NodeVectors<double> positions(JointKind follower_kind, double follower, JointKind leader_kind, double leader) {
  const auto move = [](NodeVectors<double>& x, std::size_t count, const Joint& joint, JointKind kind, double by) {
    const Vector a = axes_from(joint.axis)[0];
    const Vec3<double> axis{{a[0], a[1], a[2]}}, point{{joint.point[0], joint.point[1], joint.point[2]}};
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3<double> r = x[i] - point;
      x[i] = kind == JointKind::prismatic ? x[i] + by * axis
                                          : point + std::cos(by) * r + std::sin(by) * cross(axis, r) +
                                                ((1.0 - std::cos(by)) * dot(axis, r)) * axis;
    }
  };
  NodeVectors<double> x;
  for (const auto& rest : {first_rest, second_rest})
    for (const Vector& v : rest) x.push_back({{v[0], v[1], v[2]}});
  move(x, 4, follower_of(follower_kind), follower_kind, follower);
  move(x, 8, leader_of(leader_kind), leader_kind, leader);
  return x;
}

struct Kinds {
  JointKind follower, leader;
};
constexpr Kinds all_kinds[] = {{JointKind::revolute, JointKind::revolute},
                               {JointKind::revolute, JointKind::prismatic},
                               {JointKind::prismatic, JointKind::revolute},
                               {JointKind::prismatic, JointKind::prismatic}};

TEST(joint_coupling, is_zero_if_the_coordinates_have_the_ratio) {
  for (const auto& [follower, leader] : all_kinds)
    for (const double ratio : {-2.0, 1.5, 0.7, 0.123456})
      for (const double q : {0.3, -1.1, 2.0}) {
        const Assembly assembly("bodies", {}, {make_coupling(follower, leader, ratio)});
        EXPECT_NEAR(assembly.values(positions(follower, ratio * q, leader, q))[0], 0.0, 1e-13);
        EXPECT_GT(std::abs(assembly.values(positions(follower, ratio * q + 1e-3, leader, q))[0]), 1e-4);
      }
}

TEST(joint_coupling, allows_full_turns_if_the_ratio_is_a_fraction) {
  constexpr JointKind turn = JointKind::revolute, slide = JointKind::prismatic;
  for (const double q : {7.0, -30.0}) {
    for (const double ratio : {-2.0, 1.5, 17.0 / 50.0}) {
      const Assembly gears("bodies", {}, {make_coupling(turn, turn, ratio)});
      EXPECT_NEAR(gears.values(positions(turn, ratio * q, turn, q))[0], 0.0, 1e-11);
    }
    const Assembly rack("bodies", {}, {make_coupling(turn, slide, 9.87)}),
        screw("bodies", {}, {make_coupling(slide, turn, 0.0123)}),
        none("bodies", {}, {make_coupling(turn, turn, 0.123)});
    EXPECT_NEAR(rack.values(positions(turn, 9.87 * q, slide, q))[0], 0.0, 1e-11);
    EXPECT_NEAR(screw.values(positions(slide, 0.0123 * q, turn, q))[0], 0.0, 1e-11);
    EXPECT_GT(std::abs(none.values(positions(turn, 0.123 * q, turn, q))[0]), 0.1);
  }
}

/// Fourth-order difference of f at 0.
std::vector<double> difference(const std::function<std::vector<double>(double)>& f) {
  constexpr double h = 5e-4;
  const std::vector<double> p1 = f(h), m1 = f(-h), p2 = f(2.0 * h), m2 = f(-2.0 * h);
  std::vector<double> result;
  for (std::size_t i = 0; i < p1.size(); ++i) result.push_back((8.0 * (p1[i] - m1[i]) - (p2[i] - m2[i])) / (12.0 * h));
  return result;
}

NodeVectors<double> waves(double seed) {
  NodeVectors<double> w(8);
  for (std::size_t i = 0; i < 8; ++i)
    for (int c = 0; c < 3; ++c) w[i][c] = std::cos(seed * static_cast<double>(i) - 2.0 * c + seed);
  return w;
}

NodeVectors<double> moved(NodeVectors<double> x, double t, const NodeVectors<double>& w) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] + t * w[i];
  return x;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double size = 0.0;
  for (const double value : expected) size = std::max(size, std::abs(value));
  EXPECT_GT(size, 1e-3);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8 * std::max(1.0, size)) << i;
}

/// Returns `values` with the derivatives `changes`.
NodeVectors<Along> along(const NodeVectors<double>& values, const NodeVectors<double>& changes) {
  NodeVectors<Along> result = zero_vectors<Along>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      result[i][c] = values[i][c];
      result[i][c].derivative[0] = changes[i][c];
    }
  return result;
}

TEST(joint_coupling, derivatives_are_those_of_differences) {
  for (const auto& [follower, leader] : all_kinds) {
    const Assembly assembly("bodies", {}, {make_coupling(follower, leader, 1.5)});
    // The positions are those of bodies that are not rigid.
    const NodeVectors<double> x = moved(positions(follower, 0.4, leader, 0.9), 0.05, waves(2.0)), w = waves(3.0),
                              u = waves(1.3);
    const std::vector<double> lambda{0.8};
    expect_near(assembly.project(x, w), difference([&](double t) { return assembly.values(moved(x, t, w)); }));
    const auto forces = [&](const NodeVectors<double>& at) {
      NodeVectors<double> sum = zero_vectors<double>(8);
      assembly.add_forces(at, lambda, 1.0, sum);
      return sum;
    };
    const auto curvature = [&](const NodeVectors<double>& at) {
      NodeVectors<double> sum = zero_vectors<double>(8);
      assembly.add_curvature(at, lambda, w, 1.0, sum);
      return values_of(sum);
    };
    double work = 0.0;
    for (std::size_t i = 0; i < 8; ++i) work += dot(forces(x)[i], w[i]);
    EXPECT_NEAR(work, lambda[0] * assembly.project(x, w)[0], 1e-13);
    expect_near(curvature(x), difference([&](double t) { return values_of(forces(moved(x, t, w))); }));
    const auto second_derivative = [&](const NodeVectors<double>& first, const NodeVectors<double>& second) {
      return assembly.project(along(x, second), along(first, zero_vectors<double>(8)))[0].derivative[0];
    };
    EXPECT_NEAR(second_derivative(w, u), second_derivative(u, w), 1e-12);
    expect_near({second_derivative(w, u)}, difference([&](double t) { return assembly.project(moved(x, t, u), w); }));
    // The matrix of second derivatives, times w.
    const std::vector<double> matrix = assembly.curvature(x, lambda);
    std::vector<double> product(24, 0.0);
    for (std::size_t i = 0; i < 24; ++i)
      for (std::size_t j = 0; j < 24; ++j) product[i] += matrix[24 * i + j] * w[j / 3][static_cast<int>(j % 3)];
    expect_near(product, curvature(x));
    // Third derivatives, which are zero for two prismatic joints only with respect to the positions of one body.
    NodeVectors<Along> sum = zero_vectors<Along>(8);
    assembly.add_curvature(along(x, u), {0.8}, along(w, zero_vectors<double>(8)), 1.0, sum);
    std::vector<double> third;
    for (std::size_t i = 0; i < 24; ++i) third.push_back(sum[i / 3][static_cast<int>(i % 3)].derivative[0]);
    const std::vector<double> expected = difference([&](double t) { return curvature(moved(x, t, u)); });
    double size = 0.0;
    for (std::size_t i = 0; i < 24; ++i) {
      EXPECT_NEAR(third[i], expected[i], 1e-7);
      size = std::max(size, std::abs(expected[i]));
    }
    EXPECT_EQ(size > 1e-3, follower == JointKind::revolute || leader == JointKind::revolute);
  }
}

/// Both joints, and the weights for any ratio.
CoupledJoints coupled_joints(JointKind follower, JointKind leader) {
  CoupledJoints joints{{follower_of(follower), leader_of(leader)}, {}, {}};
  joints.geometry = {make_joint_geometry(joints.joints[0], first_rest, second_rest),
                     make_joint_geometry(joints.joints[1], second_rest, std::nullopt)};
  for (int k = 0; k < JointCoupling::num_nodes; ++k) joints.nodes[static_cast<std::size_t>(k)] = k < 4 ? k : 4 + k % 4;
  return joints;
}

/// Returns g, whose weights have the derivatives of `ratio`, at the positions x.
template <class S>
S value_at(const CoupledJoints& joints, const S& ratio, const NodeVectors<double>& x) {
  std::array<PlacementOf<S>, 2> placements;
  for (std::size_t side = 0; side < 2; ++side)
    for (std::size_t i = 0; i < 6; ++i) placements[side][i] = S(placement_of(joints.joints[side])[i]);
  const JointCouplingOf<S> coupling = joints.at(placements[0], placements[1], ratio);
  JointCoupling::NodeValues<S> values, gradient;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (int c = 0; c < 3; ++c) values[k][c] = S(x[static_cast<std::size_t>(joints.nodes[k])][c]);
  return coupling.evaluate(values, gradient);
}

// For a fraction of integers, the weights are larger than for other ratios nearby, so the differences of g are scaled.
TEST(joint_coupling, derivatives_by_the_ratio_are_those_of_differences) {
  using Second = Dual<Along, 1>;
  for (const auto& [follower, leader] : all_kinds)
    for (const double ratio : {1.5, -0.7123456}) {
      const CoupledJoints joints = coupled_joints(follower, leader);
      const bool turns = follower == JointKind::revolute, leader_turns = leader == JointKind::revolute;
      const double alpha = coupling_weights(ratio, turns, leader_turns).alpha;
      const NodeVectors<double> x = positions(follower, 0.4, leader, 0.3);
      const auto scaled = [&](double r) {
        const double own = !turns && leader_turns ? 1.0 : coupling_weights(r, turns, leader_turns).alpha / alpha;
        return value_at(joints, r, x) / own;
      };
      const auto slope = [&](double r) {
        return !turns && leader_turns ? -0.4 / (r * r) : -alpha * 0.3;  // of q/r - q', or of α (q - r q')
      };
      const Second g = value_at(joints, Second::variable(Along::variable(ratio, 0), 0), x);
      EXPECT_NEAR(g.value.value, scaled(ratio), 1e-14);
      EXPECT_NEAR(g.value.derivative[0], slope(ratio), 1e-12);
      EXPECT_NEAR(g.derivative[0].value, slope(ratio), 1e-12);
      expect_near({g.derivative[0].value}, difference([&](double t) { return std::vector{scaled(ratio + t)}; }));
      const double second = difference([&](double t) { return std::vector{slope(ratio + t)}; })[0];
      EXPECT_NEAR(g.derivative[0].derivative[0], second, 1e-8);
    }
}

TEST(joint_coupling, knows_whether_a_joint_passes_half_a_turn) {
  constexpr JointKind turn = JointKind::revolute;
  const auto knows = [&](double ratio, double from, double to) {
    return has_known_turns(make_coupling(turn, turn, ratio), positions(turn, ratio * from, turn, from),
                           positions(turn, ratio * to, turn, to));
  };
  for (const double ratio : {1.0, -1.0, 0.5, -0.123456}) {
    EXPECT_TRUE(knows(ratio, 2.9, 3.1));
    EXPECT_FALSE(knows(ratio, 3.1, 3.2));  // the leader passes π
    EXPECT_FALSE(knows(ratio, -3.2, -3.1));
  }
  EXPECT_TRUE(knows(3.0, 0.9, 1.0));
  EXPECT_FALSE(knows(3.0, 1.0, 1.1));  // the follower passes π
  EXPECT_FALSE(knows(3.0, 1.1, 1.2));  // the follower is beyond π
}

TEST(joint_coupling, refuses_joints_without_a_coordinate_and_ratios_without_a_meaning) {
  Joint follower = follower_of(JointKind::revolute);
  EXPECT_NO_THROW(require_coupling(follower, leader_of(JointKind::prismatic)));
  EXPECT_THROW(require_coupling(follower, leader_of(JointKind::spherical)), Error);
  EXPECT_THROW(require_coupling(follower_of(JointKind::planar), leader_of(JointKind::revolute)), Error);
  for (const double ratio : {0.0, static_cast<double>(INFINITY), std::nan("")}) {
    follower.ratio = ratio;
    EXPECT_THROW(require_coupling(follower, leader_of(JointKind::revolute)), Error);
  }
}

}  // namespace
}  // namespace diffsim::body::joint_coupling_test
