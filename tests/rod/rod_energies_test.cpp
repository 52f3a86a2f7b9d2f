// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Energies of a rod's segment, section and joint: values, invariances, and hand-written derivatives compared with Dual
// numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "core/energy_derivatives.hpp"
#include "rod/rod_energies.hpp"

namespace diffsim::rod_energies_test {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Nodal positions and values in general position: two segments that are bent and twisted, both in the rest shape and
/// in the deformed shape.
template <class F>
stencil::Values<F> moved() {
  stencil::Values<F> at{};
  constexpr double joint[5][3] = {
      {0.1, 0.2, 0.05}, {1.1, 0.1, 0.3}, {1.6, 0.9, -0.2}, {0.2, 0.9, 0.3}, {-0.3, 0.6, 0.7}};
  constexpr double segment[3][3] = {{0.1, 0.2, 0.05}, {1.1, 0.1, 0.3}, {0.2, 0.9, 0.3}};
  for (int k = 0; k < 3 * F::num_nodes; ++k) {
    at.X[k / 3][k % 3] = F::num_nodes == 5 ? joint[k / 3][k % 3] : segment[k / 3][k % 3];
    at.x[k / 3][k % 3] = at.X[k / 3][k % 3] + 0.15 * std::sin(3.7 * k + 0.4);
  }
  const double numbers[] = {7.0, 0.3, 0.8, 0.4, -0.7, 0.6};
  for (int k = 0; k < F::num_values; ++k) at.p[k] = numbers[k];
  return at;
}

constexpr RodSection given{RodSection::Kind::given}, round_one{RodSection::Kind::round};

TEST(RodStretch, has_its_derivatives) {
  for (const RodSection& section : {given, round_one})
    EXPECT_LE(testing_core::error_of_derivatives(RodStretch{section}, moved<RodStretch>()), 1e-14);
}
TEST(RodSectionShape, has_its_derivatives) {
  for (const RodSection& section : {given, round_one})
    EXPECT_LE(testing_core::error_of_derivatives(RodSectionShape{section}, moved<RodSectionShape>()), 1e-14);
}
TEST(RodJoint, has_its_derivatives) {
  for (const Beyond beyond : {Beyond::segment, Beyond::wall, Beyond::direction})
    for (const RodSection& section : {given, round_one})
      EXPECT_LE(testing_core::error_of_derivatives(RodJoint{beyond, section}, moved<RodJoint>()), 2e-14);
}

TEST(RodSection, has_the_stiffnesses_of_a_disc) {
  const double p[] = {3.0, 0.25, 0.2, 0.0, 0.0, 0.0};
  const SectionStiffness<double> of = round_one.stiffness(p);
  EXPECT_NEAR(of.axial, 3.0 * pi * 0.04, 1e-15);
  EXPECT_NEAR(of.bending1, 3.0 * pi * 0.0016 / 4.0, 1e-16);
  EXPECT_EQ(of.bending1, of.bending2);
  EXPECT_NEAR(of.torsion, 3.0 / 2.5 * pi * 0.0016 / 2.0, 1e-16);  // G J, J = π r⁴/2
}

/// A rod of two segments of 0.5 m, straight along x in its rest shape, with directors along y.
stencil::Values<RodJoint> straight(double EI1, double EI2, double GJ) {
  stencil::Values<RodJoint> at{};
  for (int i = 0; i < 3; ++i) at.X[i] = {{0.5 * i, 0.0, 0.0}};
  at.X[3] = at.X[4] = {{0.0, 0.5, 0.0}};
  for (int i = 0; i < 5; ++i) at.x[i] = at.X[i];
  at.p[1] = EI1;
  at.p[2] = EI2;
  at.p[3] = GJ;
  return at;
}

TEST(RodJoint, bends_towards_its_director_and_across_it) {
  // Contribution of one segment to the joint's energy: L/4 EI (2 tan(φ/2)/L)².
  constexpr double angle = 0.3, L = 0.5;
  const double square = 4.0 * std::pow(std::tan(0.5 * angle), 2) / L;
  stencil::Values<RodJoint> at = straight(3.0, 7.0, 0.0);
  at.x[2] = {{L + L * std::cos(angle), L * std::sin(angle), 0.0}};
  at.x[4] = {{-L * std::sin(angle), L * std::cos(angle), 0.0}};
  EXPECT_NEAR(RodJoint().energy(at), 0.25 * 3.0 * square, 1e-14);
  at = straight(3.0, 7.0, 0.0);
  at.x[2] = {{L + L * std::cos(angle), 0.0, L * std::sin(angle)}};
  EXPECT_NEAR(RodJoint().energy(at), 0.25 * 7.0 * square, 1e-14);
  // At a wall L/2 replaces (L + M)/2 = L, which doubles the curvature.
  EXPECT_NEAR(RodJoint{Beyond::wall}.energy(at), 7.0 * square, 1e-14);
}

TEST(RodJoint, twists_by_the_angle_between_directors) {
  constexpr double L = 0.5;
  for (const double angle : {0.4, -1.0, 3.0}) {
    stencil::Values<RodJoint> at = straight(0.0, 0.0, 5.0);
    at.x[4] = {{0.0, std::cos(angle), std::sin(angle)}};  // the length of the director does not matter
    EXPECT_NEAR(RodJoint().energy(at), 0.25 * L * 5.0 * std::pow(angle / L, 2), 1e-13);
    at.p[5] = angle / L;
    EXPECT_NEAR(RodJoint().energy(at), 0.0, 1e-13);
  }
}

TEST(RodJoint, is_curved_at_rest_towards_its_director) {
  constexpr double angle = 0.3, L = 0.5;
  stencil::Values<RodJoint> at = straight(3.0, 7.0, 5.0);
  at.x[2] = {{L + L * std::cos(angle), L * std::sin(angle), 0.0}};
  at.x[4] = {{-std::sin(angle), std::cos(angle), 0.0}};
  at.p[4] = 2.0 * std::tan(0.5 * angle) / L;
  EXPECT_NEAR(RodJoint().energy(at), 0.0, 1e-15);
}

TEST(RodJoint, has_no_energy_in_rigid_motions_and_is_the_same_both_ways) {
  stencil::Values<RodJoint> at = moved<RodJoint>();
  const double energy = RodJoint().energy(at);
  // A rotation about z and a translation.
  const double c = std::cos(0.8), s = std::sin(0.8);
  stencil::Values<RodJoint> turned = at;
  for (int i = 0; i < 5; ++i) {
    const double shift = i < 3 ? 0.7 : 0.0;
    turned.x[i] = {{c * at.x[i][0] - s * at.x[i][1] + shift, s * at.x[i][0] + c * at.x[i][1] - shift, at.x[i][2]}};
  }
  EXPECT_NEAR(RodJoint().energy(turned), energy, 1e-13);
  // The rod traversed from the other end. With one stiffness for all segments, the contributions of the two segments
  // have the ratio of the rest lengths.
  stencil::Values<RodJoint> back = at;
  for (int i = 0; i < 3; ++i) {
    back.x[i] = at.x[2 - i];
    back.X[i] = at.X[2 - i];
  }
  back.x[3] = at.x[4];
  back.x[4] = at.x[3];
  back.X[3] = at.X[4];
  back.X[4] = at.X[3];
  const auto length = [&](int i) {
    const Vec3<double> e = at.X[i + 1] - at.X[i];
    return std::sqrt(dot(e, e));
  };
  EXPECT_NEAR(RodJoint().energy(back) / length(1), energy / length(0), 1e-12);
  // The energy depends neither on a director's length nor on its component along the segment.
  stencil::Values<RodJoint> sheared = at;
  for (int c3 = 0; c3 < 3; ++c3) {
    sheared.x[3][c3] = 1.7 * at.x[3][c3] + 0.4 * (at.x[1][c3] - at.x[0][c3]);
    sheared.X[4][c3] = 0.6 * at.X[4][c3] - 0.2 * (at.X[2][c3] - at.X[1][c3]);
  }
  EXPECT_NEAR(RodJoint().energy(sheared), energy, 1e-12);
}

}  // namespace
}  // namespace diffsim::rod_energies_test
