// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Constraints of rigid bodies and joints, and their multipliers.

#include "body/joint_constraints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "body/assembly.hpp"
#include "diffsim/core/error.hpp"
#include "max_or_nan.hpp"

namespace diffsim::body {
namespace {

const std::array<Vector, 4> first_rest{{{0.1, 0.2, 0.0}, {1.3, 0.1, 0.2}, {0.2, 1.1, -0.1}, {0.0, 0.3, 0.9}}};
const std::array<Vector, 4> second_rest{{{1.1, 0.2, 0.5}, {2.0, 0.0, 0.4}, {1.3, 1.2, 0.6}, {1.0, 0.3, 1.7}}};

NodeVectors<double> rest_positions() {
  NodeVectors<double> x;
  for (const auto& rest : {first_rest, second_rest})
    for (const Vector& v : rest) x.push_back({{v[0], v[1], v[2]}});
  return x;
}

Assembly two_bodies(std::vector<Constraint> joint) {
  std::vector<Constraint> all = std::move(joint);
  for (const Frame& frame : {Frame(0, first_rest), Frame(4, second_rest)})
    for (Constraint& constraint : frame.rigidity()) all.push_back(std::move(constraint));
  return {"bodies 'first', 'second'", std::move(all)};
}

/// Velocities v + ω × (x - point) of the nodes of the first body; those of the second body are zero.
NodeVectors<double> motion(const Vector& v, const Vector& w, const Vector& point) {
  NodeVectors<double> velocities(8, Vec3<double>{{0.0, 0.0, 0.0}});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      velocities[i][static_cast<int>(c)] =
          v[c] + w[a] * (first_rest[i][b] - point[b]) - w[b] * (first_rest[i][a] - point[a]);
    }
  return velocities;
}

/// Relative motions that a joint allows: translations along its three axes, and rotations about these axes.
struct Freedom {
  std::array<bool, 3> along, about;
};

TEST(joint_constraints, allow_exactly_the_motions_of_the_kind) {
  const std::map<JointKind, Freedom> expected{{JointKind::fixed, {{false, false, false}, {false, false, false}}},
                                              {JointKind::revolute, {{false, false, false}, {true, false, false}}},
                                              {JointKind::prismatic, {{true, false, false}, {false, false, false}}},
                                              {JointKind::spherical, {{false, false, false}, {true, true, true}}},
                                              {JointKind::universal, {{false, false, false}, {true, true, false}}},
                                              {JointKind::planar, {{false, true, true}, {true, false, false}}}};
  const Vector point{0.7, 0.6, 0.3}, axis{0.3, -1.0, 0.5};
  const auto axes = axes_from(axis);
  for (const auto& [kind, freedom] : expected) {
    const Joint joint{"joint", kind, "first", "second", point, axis};
    const Assembly assembly =
        two_bodies(joint_constraints(joint, placement_of(joint), Frame(0, first_rest), Frame(4, second_rest)));
    for (const double g : assembly.values(rest_positions())) EXPECT_NEAR(g, 0.0, 1e-14);
    int constrained = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      const NodeVectors<double> v = k < 3 ? motion(axes[k], {0, 0, 0}, point) : motion({0, 0, 0}, axes[k - 3], point);
      double most = 0.0;
      for (const double rate : assembly.project(rest_positions(), v)) most = max_or_nan(most, std::abs(rate));
      const bool is_free = k < 3 ? freedom.along[k] : freedom.about[k - 3];
      EXPECT_EQ(most < 1e-13, is_free) << joint_kinds()[static_cast<std::size_t>(kind)] << ", motion " << k;
      constrained += is_free ? 0 : 1;
    }
    EXPECT_EQ(static_cast<int>(assembly.size()), 12 + constrained);
  }
}

TEST(joint_constraints, positions_are_corrected_to_rounding_errors) {
  const Joint joint{"joint", JointKind::revolute, "first", "second", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}};
  const Assembly assembly =
      two_bodies(joint_constraints(joint, placement_of(joint), Frame(0, first_rest), Frame(4, second_rest)));
  const NodeVectors<double> x = rest_positions();
  NodeVectors<double> y = x;
  for (std::size_t i = 0; i < 8; ++i)
    for (int c = 0; c < 3; ++c) y[i][c] += 0.05 * std::sin(3.0 * static_cast<double>(i) + 5.0 * c);
  const NodeVectors<double> start = y;
  std::vector<double> factors;
  for (int i = 0; i < 8; ++i) factors.push_back(0.2 + 0.1 * i);
  NodeVectors<double> scratch = y;
  const std::vector<double> lambda = assembly.correct_positions(x, factors, y, scratch);
  for (const double g : assembly.values(y)) EXPECT_NEAR(g, 0.0, 1e-14);
  NodeVectors<double> forces(8, Vec3<double>{{0.0, 0.0, 0.0}});
  assembly.add_forces(x, lambda, 1.0, forces);
  for (std::size_t i = 0; i < 8; ++i)
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(y[i][c], start[i][c] + factors[i] * forces[i][c], 1e-14);
}

TEST(joint_constraints, flat_bodies_are_rigid) {
  // Corners almost in a plane, as those of a body whose moments of inertia are almost I_1 + I_2 = I_3.
  constexpr double thickness = 1e-6;
  const std::array<Vector, 4> rest{
      {{0.3, 0.2, thickness}, {-0.3, 0.2, -thickness}, {0.3, -0.2, -thickness}, {-0.3, -0.2, thickness}}};
  const Assembly assembly("body 'plate'", Frame(0, rest).rigidity());
  NodeVectors<double> x;
  for (const Vector& v : rest) x.push_back({{v[0], v[1], v[2]}});
  const std::vector<double> ones(4, 1.0);
  EXPECT_NO_THROW(assembly.require_independent(x, ones));
  // A stretch across the plane changes the constraints as much as any other strain of the same size.
  NodeVectors<double> stretched = x;
  for (Vec3<double>& v : stretched) v[2] *= 1.01;
  const std::vector<double> g = assembly.values(stretched);
  EXPECT_NEAR(*std::max_element(g.begin(), g.end()), 0.0201 * thickness * thickness, 1e-6 * thickness * thickness);
  NodeVectors<double> moved = x, scratch = x;
  for (std::size_t a = 0; a < 4; ++a) moved[a][2] += 0.3 * x[a][0] + 1e-3 * x[a][0] * x[a][1];
  assembly.correct_positions(x, ones, moved, scratch);
  for (const double value : assembly.values(moved)) EXPECT_NEAR(value, 0.0, 1e-16);
}

TEST(joint_constraints, too_large_motions_are_errors) {
  const Assembly assembly("body 'first'", Frame(0, first_rest).rigidity());
  // Displacement of 100 times the velocities of a rotation at 1 rad/s.
  NodeVectors<double> y = rest_positions(), scratch = y;
  const NodeVectors<double> velocities = motion({0, 0, 0}, {0.3, 0.9, 0.3}, {0.7, 0.6, 0.3});
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] + 100.0 * velocities[i];
  try {
    assembly.correct_positions(rest_positions(), std::vector<double>(8, 1.0), y, scratch);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("body 'first'"), std::string::npos) << error.what();
  }
}

TEST(joint_constraints, dependent_constraints_are_errors) {
  const Joint joint{"joint", JointKind::revolute, "first", "second", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}};
  std::vector<Constraint> twice =
      joint_constraints(joint, placement_of(joint), Frame(0, first_rest), Frame(4, second_rest));
  twice.push_back(twice[1]);
  const Assembly assembly = two_bodies(twice);
  try {
    assembly.require_independent(rest_positions(), std::vector<double>(8, 1.0));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("depend on one another"), std::string::npos) << error.what();
  }
}

/// Positions of two bodies and of a rotor, node 8, after a motion of the first body: a rotation by q about the axis
/// through the point, or a translation by q along the axis.
NodeVectors<double> with_rotor(JointKind kind, const Vector& point, const std::array<Vector, 3>& axes, double q) {
  NodeVectors<double> x = rest_positions();
  for (std::size_t i = 0; i < 4; ++i) {
    double along[3] = {};  // components of the offset from the point in the basis `axes`
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t c = 0; c < 3; ++c) along[k] += axes[k][c] * (first_rest[i][c] - point[c]);
    const bool turns = kind == JointKind::revolute;
    const double moved[3] = {turns ? along[0] : along[0] + q,
                             turns ? std::cos(q) * along[1] - std::sin(q) * along[2] : along[1],
                             turns ? std::sin(q) * along[1] + std::cos(q) * along[2] : along[2]};
    for (std::size_t c = 0; c < 3; ++c) {
      x[i][static_cast<int>(c)] = point[c];
      for (std::size_t k = 0; k < 3; ++k) x[i][static_cast<int>(c)] += moved[k] * axes[k][c];
    }
  }
  x.push_back(kind == JointKind::revolute ? Vec3<double>{{std::cos(q), std::sin(q), 0.0}}
                                          : Vec3<double>{{1.0 + q, 0.0, 0.0}});
  return x;
}

TEST(joint_constraints, rotors_follow_the_coordinate) {
  const Vector point{0.7, 0.6, 0.3}, axis{0.3, -1.0, 0.5};
  const auto axes = axes_from(axis);
  for (const JointKind kind : {JointKind::revolute, JointKind::prismatic}) {
    const Joint joint{"joint", kind, "first", "second", point, axis};
    const Frame first(0, first_rest), second(4, second_rest);
    std::vector<Constraint> all = joint_constraints(joint, placement_of(joint), first, second);
    for (Constraint& constraint :
         rotor_constraints(joint, placement_of(joint), first, second, {{{8, 1.0, {1.0, 0.0, 0.0}}}, {}}))
      all.push_back(std::move(constraint));
    const Assembly assembly = two_bodies(std::move(all));
    EXPECT_EQ(assembly.size(), 12u + 5u + 3u);
    EXPECT_NO_THROW(assembly.require_independent(with_rotor(kind, point, axes, 0.0), std::vector<double>(9, 1.0)));
    for (const double q : {0.0, 0.8, 2.5})
      for (const double g : assembly.values(with_rotor(kind, point, axes, q))) EXPECT_NEAR(g, 0.0, 1e-14);
    // Along the motion, the derivatives of the constraints are zero. Central differences are of fourth order.
    const double h = 1e-3;
    NodeVectors<double> v = with_rotor(kind, point, axes, 0.8 + h);
    const NodeVectors<double> m1 = with_rotor(kind, point, axes, 0.8 - h),
                              p2 = with_rotor(kind, point, axes, 0.8 + 2.0 * h),
                              m2 = with_rotor(kind, point, axes, 0.8 - 2.0 * h);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = (1.0 / (12.0 * h)) * (8.0 * (v[i] - m1[i]) - (p2[i] - m2[i]));
    for (const double rate : assembly.project(with_rotor(kind, point, axes, 0.8), v)) EXPECT_NEAR(rate, 0.0, 1e-10);
  }
}

/// The constraints are quadratic, so central differences with any step have rounding errors only.
TEST(joint_constraints, derivatives_of_the_constraints_of_rotors) {
  const Joint joint{"joint", JointKind::revolute, "first", "second", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}};
  const Frame first(0, first_rest), second(4, second_rest);
  const Assembly assembly =
      two_bodies(rotor_constraints(joint, placement_of(joint), first, second, {{{8, 1.0, {1.0, 0.0, 0.0}}}, {}}));
  NodeVectors<double> x = with_rotor(joint.kind, joint.point, axes_from(joint.axis), 0.3), w = x, plus = x, minus = x;
  std::vector<double> lambda;
  for (std::size_t k = 0; k < assembly.size(); ++k) lambda.push_back(std::sin(2.0 * static_cast<double>(k) + 1.0));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      w[i][c] = std::cos(3.0 * static_cast<double>(i) - 2.0 * c);
      plus[i][c] = x[i][c] + 0.5 * w[i][c];
      minus[i][c] = x[i][c] - 0.5 * w[i][c];
    }
  const std::vector<double> rates = assembly.project(x, w), up = assembly.values(plus), down = assembly.values(minus);
  double left = 0.0, right = 0.0;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    EXPECT_NEAR(rates[k], up[k] - down[k], 1e-12);
    left += lambda[k] * rates[k];
  }
  const auto zero = [&] { return NodeVectors<double>(x.size(), Vec3<double>{{0.0, 0.0, 0.0}}); };
  NodeVectors<double> forces = zero(), at_plus = zero(), at_minus = zero(), curvature = zero();
  assembly.add_forces(x, lambda, 1.0, forces);
  assembly.add_forces(plus, lambda, 1.0, at_plus);
  assembly.add_forces(minus, lambda, 1.0, at_minus);
  assembly.add_curvature(x, lambda, w, 1.0, curvature);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      right += forces[i][c] * w[i][c];
      EXPECT_NEAR(curvature[i][c], at_plus[i][c] - at_minus[i][c], 1e-12);
    }
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(joint_constraints, transposed_solution_and_its_derivative) {
  const Joint joint{"joint", JointKind::universal, "first", "", {0.7, 0.6, 0.3}, {0.3, -1.0, 0.5}};
  const Assembly assembly = two_bodies(joint_constraints(joint, placement_of(joint), Frame(0, first_rest), Frame()));
  using Along = Dual<double, 1>;
  const auto along = [](double value, double derivative) {
    Along a(value);
    a.derivative[0] = derivative;
    return a;
  };
  /// Solution for inputs at the distance t along a direction.
  const auto inputs = [&](double t, auto make) {
    using T = decltype(make(0.0, 0.0));
    NodeVectors<T> y, x;
    std::vector<T> factors, r;
    const NodeVectors<double> rest = rest_positions();
    for (std::size_t i = 0; i < 8; ++i) {
      const auto k = static_cast<double>(i);
      Vec3<T> to, from;
      for (int c = 0; c < 3; ++c) {
        const double dy = std::sin(2.0 * k + c), dx = std::cos(k - 2.0 * c);
        to[c] = make(rest[i][c] + 0.02 * std::cos(5.0 * k + 2.0 * c) + t * dy, dy);
        from[c] = make(rest[i][c] + t * dx, dx);
      }
      y.push_back(to);
      x.push_back(from);
      factors.push_back(make(0.3 + 0.1 * k + 0.2 * t, 0.2));
    }
    for (std::size_t k = 0; k < assembly.size(); ++k) {
      const double dr = std::cos(3.0 * static_cast<double>(k));
      r.push_back(make(std::sin(static_cast<double>(k)) + t * dr, dr));
    }
    return assembly.solve(y, x, factors, true, r);
  };
  const auto value = [](double v, double) { return v; };
  const std::vector<Along> z = inputs(0.0, along);
  constexpr double h = 1e-3;
  const auto p1 = inputs(h, value), m1 = inputs(-h, value), p2 = inputs(2.0 * h, value), m2 = inputs(-2.0 * h, value);
  double largest = 0.0;
  for (const Along& zk : z) largest = std::max(largest, std::abs(zk.derivative[0]));
  for (std::size_t k = 0; k < z.size(); ++k)
    EXPECT_NEAR(z[k].derivative[0], (8.0 * (p1[k] - m1[k]) - (p2[k] - m2[k])) / (12.0 * h), 1e-8 * largest);
  // S z = r and Sᵀ z' = r' imply r'·z = r·z'.
  const std::vector<double> factors(8, 0.7);
  const NodeVectors<double> x = rest_positions();
  NodeVectors<double> y = x;
  y[2][1] += 0.05;
  std::vector<double> r, s;
  for (std::size_t k = 0; k < assembly.size(); ++k) {
    r.push_back(std::sin(1.0 + static_cast<double>(k)));
    s.push_back(std::cos(2.0 * static_cast<double>(k)));
  }
  const std::vector<double> plain = assembly.solve(y, x, factors, false, r),
                            back = assembly.solve(y, x, factors, true, s);
  double left = 0.0, right = 0.0;
  for (std::size_t k = 0; k < r.size(); ++k) {
    left += s[k] * plain[k];
    right += r[k] * back[k];
  }
  EXPECT_NEAR(left, right, 1e-11 * std::abs(left));
}

}  // namespace
}  // namespace diffsim::body
