// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/pair_force.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "pair_testing.hpp"

namespace diffsim::contact::pair_force_test {
namespace {

using namespace testing_pairs;

/// Compares the force with -∂E/∂x by central differences of the energy, which converge at second order.
template <class Weights>
void expect_force_of_energy(const Weights& weights, const Quad& x) {
  double scale = 0.0;
  Quad force{};
  add_pair_force(weights, x.data(), static_cast<const Vec3<double>*>(nullptr), law, force.data());
  for (const auto& f : force) scale = std::max(scale, std::sqrt(dot(f, f)));
  if (scale == 0.0) return;
  double errors[2] = {0.0, 0.0};
  const double steps[2] = {2e-4, 1e-4};
  for (int s = 0; s < 2; ++s)
    for (std::size_t k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) {
        Quad plus = x, minus = x;
        plus[k][c] += steps[s];
        minus[k][c] -= steps[s];
        const double slope =
            (pair_energy(weights, plus.data(), law) - pair_energy(weights, minus.data(), law)) / (2.0 * steps[s]);
        errors[s] = std::max(errors[s], std::abs(slope + force[k][c]));
      }
  EXPECT_LE(errors[1], 1e-4 * scale);
  if (errors[0] > 1e-8 * scale) {
    EXPECT_GT(std::log2(errors[0] / errors[1]), 0.9);
  }
}

TEST(pair_force, is_minus_the_slope_of_the_energy) {
  QuadSource source(31);
  int pairs = 0;
  for (int n = 0; n < 400; ++n) {
    const Quad x = source.generic();
    if (point_triangle_distance(x.data()).squared < 0.01 || edge_edge_distance(x.data()).squared < 0.01) continue;
    ++pairs;
    expect_force_of_energy(point_triangle, x);
    expect_force_of_energy(edge_edge, x);
  }
  EXPECT_GT(pairs, 100);
}

TEST(pair_force, of_mollified_edges_is_minus_the_slope_of_the_energy) {
  QuadSource source(32);
  for (int n = 0; n < 50; ++n) {
    const double angle = source.uniform(0.002, 0.02);
    Quad x = {{{{-0.5, 0, 0}}, {{0.5, 0, 0}}, {{-0.5, 0.3, 0}}, {{0.5, 0.3 + angle, 0.5 * angle}}}};
    for (auto& p : x)
      for (int c = 0; c < 3; ++c) p[c] += source.uniform(-1e-4, 1e-4);
    ASSERT_LT(squared_cross(x.data()), edge_edge.threshold);
    Quad force{};
    add_pair_force(edge_edge, x.data(), static_cast<const Vec3<double>*>(nullptr), law, force.data());
    double scale = 0.0;
    for (const auto& f : force) scale = std::max(scale, std::sqrt(dot(f, f)));
    const double h = 1e-7;
    for (std::size_t k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) {
        Quad plus = x, minus = x;
        plus[k][c] += h;
        minus[k][c] -= h;
        const double slope =
            (pair_energy(edge_edge, plus.data(), law) - pair_energy(edge_edge, minus.data(), law)) / (2.0 * h);
        EXPECT_NEAR(-slope, force[k][c], 1e-5 * scale);
      }
  }
}

/// Checks that Σ f = 0 and, without friction, that Σ x × f = 0.
template <class Weights>
void expect_balance(const Weights& weights, const Quad& x, const Quad& v) {
  for (const Vec3<double>* velocities : {v.data(), static_cast<const Vec3<double>*>(nullptr)}) {
    Quad force{};
    add_pair_force(weights, x.data(), velocities, law, force.data());
    Vec3<double> sum = {{0, 0, 0}}, moment = {{0, 0, 0}};
    double scale = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      sum = sum + force[k];
      moment = moment + cross(x[k], force[k]);
      scale += std::sqrt(dot(force[k], force[k]));
    }
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(sum[c], 0.0, 1e-12 * scale);
      if (!velocities) {
        EXPECT_NEAR(moment[c], 0.0, 1e-11 * scale);
      }
    }
  }
}

TEST(pair_force, balances_and_friction_dissipates) {
  QuadSource source(33);
  for (int n = 0; n < 200; ++n) {
    const Quad x = source.generic(), v = source.generic();
    if (point_triangle_distance(x.data()).squared < 1e-4 || edge_edge_distance(x.data()).squared < 1e-4) continue;
    expect_balance(point_triangle, x, v);
    expect_balance(edge_edge, x, v);
    // Power of friction alone, for a feature with a positive weight.
    Quad with{}, without{};
    add_pair_force(edge_edge, x.data(), v.data(), law, with.data());
    add_pair_force(edge_edge, x.data(), static_cast<const Vec3<double>*>(nullptr), law, without.data());
    double power = 0.0;
    for (std::size_t k = 0; k < 4; ++k) power += dot(with[k] - without[k], v[k]);
    EXPECT_LE(power, 1e-9);
  }
}

TEST(pair_force, sums_over_a_tessellated_plane_give_the_distance_to_the_plane_once) {
  // A point above a plane of triangles. The size and the position of the triangles must not matter.
  QuadSource source(34);
  for (const double h : {0.2, 0.33}) {
    const int cells = 16;
    const auto corner = [&](int i, int j) { return Vec3<double>{{h * (i + 0.3 * j), h * j, 0.0}}; };
    for (int n = 0; n < 20; ++n) {
      const Vec3<double> p =
          corner(7, 7) + Vec3<double>{{source.uniform(0, h), source.uniform(0, h), source.uniform(0.05, 0.79)}};
      double sum = 0.0;
      Vec3<double> force = {{0, 0, 0}};
      const PointTriangleWeights interior = {1.0, {-0.5, -0.5, -0.5}, {1.0 / 6, 1.0 / 6, 1.0 / 6}};
      for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j)
          for (int half = 0; half < 2; ++half) {
            Quad x = {p, corner(i + 1, j), corner(i, j + 1), half == 0 ? corner(i, j) : corner(i + 1, j + 1)}, f{};
            sum += pair_energy(interior, x.data(), law);
            add_pair_force(interior, x.data(), static_cast<const Vec3<double>*>(nullptr), law, f.data());
            force = force + f[0];
          }
      const Barrier expected(p[2] * p[2], law.range);
      EXPECT_NEAR(sum, law.stiffness * expected.value, 1e-9 * sum);
      EXPECT_NEAR(force[2], -2.0 * law.stiffness * expected.gradient * p[2], 1e-9 * std::abs(force[2]));
      EXPECT_NEAR(force[0], 0.0, 1e-9 * std::abs(force[2]));
    }
  }
}

/// Compares derivatives of forces by Dual numbers with slopes of the forces.
template <class Weights>
void expect_tangent(const Weights& weights, const Quad& x, const Quad& v, QuadSource& source,
                    const ContactLaw<double>& law) {
  using D = Dual<double, 1>;
  const Quad dx = source.generic(), dv = source.generic();
  const auto at = [&](double h, Quad& force) {
    Quad moved = x, faster = v;
    for (std::size_t k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) {
        moved[k][c] += h * dx[k][c];
        faster[k][c] += h * dv[k][c];
      }
    const ContactLaw<double> changed = {law.stiffness + 1e4 * h, law.range + 0.3 * h,     law.friction + h,
                                        law.velocity + h,        law.thickness + 0.2 * h, law.damping + 0.5 * h,
                                        law.is_penalty};
    force = {};
    add_pair_force(weights, moved.data(), faster.data(), changed, force.data());
  };
  std::array<Vec3<D>, 4> sx, sv, f;
  for (std::size_t k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      sx[k][c].value = x[k][c];
      sx[k][c].derivative[0] = dx[k][c];
      sv[k][c].value = v[k][c];
      sv[k][c].derivative[0] = dv[k][c];
      f[k][c] = D(0.0);
    }
  ContactLaw<D, D> slaw = {law.stiffness, law.range,   law.friction,  law.velocity,
                           law.thickness, law.damping, law.is_penalty};
  slaw.stiffness.derivative[0] = 1e4;
  slaw.range.derivative[0] = 0.3;
  slaw.friction.derivative[0] = slaw.velocity.derivative[0] = 1.0;
  slaw.thickness.derivative[0] = 0.2;
  slaw.damping.derivative[0] = 0.5;
  add_pair_force(weights, sx.data(), sv.data(), slaw, f.data());
  double scale = 0.0, error = 0.0;
  Quad up, down;
  const double h = 1e-6;
  at(h, up);
  at(-h, down);
  for (std::size_t k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      scale = std::max(scale, std::abs(f[k][c].derivative[0]));
      error = std::max(error, std::abs((up[k][c] - down[k][c]) / (2.0 * h) - f[k][c].derivative[0]));
    }
  EXPECT_LE(error, 1e-4 * scale + 1e-3);
}

TEST(pair_force, tangents_agree_with_differences) {
  QuadSource source(35);
  for (int n = 0; n < 200; ++n) {
    const Quad x = source.generic(), v = source.generic();
    if (point_triangle_distance(x.data()).squared < 0.01 || edge_edge_distance(x.data()).squared < 0.01) continue;
    expect_tangent(point_triangle, x, v, source, law);
    expect_tangent(edge_edge, x, v, source, law);
  }
}

/// Calls `visit(law, near)` for a barrier and for a penalty with a thickness. `near`: squared distance up to which the
/// forces of the law are too large or not smooth enough for differences.
template <class Visit>
void for_thick_laws(const Visit& visit) {
  visit(thick_law, std::pow(thick_law.thickness + 0.1, 2));
  visit(penalty_law, std::pow(0.1, 2));
}

TEST(pair_force, tangents_with_a_thickness_agree_with_differences) {
  for_thick_laws([](const ContactLaw<double>& law, double near) {
    QuadSource source(36);
    int pushed = 0;
    for (int n = 0; n < 300; ++n) {
      const Quad x = source.generic(), v = source.generic();
      const double squared = std::min(point_triangle_distance(x.data()).squared, edge_edge_distance(x.data()).squared);
      if (squared < near) continue;
      pushed += squared < law.limit();
      expect_tangent(point_triangle, x, v, source, law);
      expect_tangent(edge_edge, x, v, source, law);
    }
    EXPECT_GT(pushed, 20);
  });
}

TEST(pair_force, with_a_thickness_is_minus_the_slope_of_the_energy) {
  for_thick_laws([](const ContactLaw<double>& law, double near) {
    QuadSource source(37);
    const double h = 1e-6;
    const auto expect_slope = [&](const auto& weights, const Quad& x, const Quad& way) {
      Quad up = x, down = x, f{};
      for (std::size_t k = 0; k < 4; ++k) {
        up[k] = x[k] + detail::scaled(h, way[k]);
        down[k] = x[k] - detail::scaled(h, way[k]);
      }
      add_pair_force(weights, x.data(), static_cast<const Vec3<double>*>(nullptr), law, f.data());
      double power = 0.0, size = 0.0;
      for (std::size_t k = 0; k < 4; ++k) {
        power += dot(f[k], way[k]);
        size += std::sqrt(dot(f[k], f[k]));
      }
      const double slope = (pair_energy(weights, up.data(), law) - pair_energy(weights, down.data(), law)) / (2.0 * h);
      EXPECT_NEAR(power, -slope, 1e-5 * size + 1e-4);
    };
    for (int n = 0; n < 300; ++n) {
      const Quad x = source.generic(), way = source.generic();
      if (std::min(point_triangle_distance(x.data()).squared, edge_edge_distance(x.data()).squared) < near) continue;
      expect_slope(point_triangle, x, way);
      expect_slope(edge_edge, x, way);
    }
  });
}

}  // namespace
}  // namespace diffsim::contact::pair_force_test
