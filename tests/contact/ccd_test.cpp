// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Collision-free steps, verified in rational arithmetic. DIFFSIM_CCD_QUERIES sets the number of queries of each kind
// (tests/campaigns/ccd.sh).

#include "contact/ccd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "contact_testing.hpp"
#include "exact.hpp"

namespace diffsim::contact::ccd_test {
namespace {

struct Query {
  Quad from, to;
  double known = 2.0;  ///< a time at which the pair meets, if in [0, 1]
};

int num_queries() {
  const char* text = std::getenv("DIFFSIM_CCD_QUERIES");
  return text ? std::atoi(text) : 3000;
}

Quad at(const Query& q, double t) {
  Quad x;
  for (std::size_t k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) x[k][c] = q.from[k][c] + t * (q.to[k][c] - q.from[k][c]);
  return x;
}

/// Returns the vector between the closest points at time t, in doubles or exactly.
template <int first>
exact::Vector direction(const Query& q, double t, bool exactly) {
  if (!exactly) return exact::vector(detail::separation<first>(at(q, t).data()));
  std::array<exact::Vector, 4> x;
  for (std::size_t k = 0; k < 4; ++k)
    x[k] = exact::minus(exact::scaled(1 - exact::Rational(t), exact::vector(q.from[k])),
                        exact::scaled(-exact::Rational(t), exact::vector(q.to[k])));
  return first == 1 ? exact::point_triangle(x) : exact::edge_edge(x);
}

/// Returns a time until which n separates the pair from `begin` on, i.e. n·(x_i - x_j) > 0 for all i, j, in rational
/// arithmetic. Returns `begin` if n does not separate the pair at `begin`. The heights n·(x_i - x_j) are linear in
/// time. The result is `end`, or covers nine tenths of the time until the first height becomes zero.
template <int first>
double separated_until(const exact::Vector& n, const Query& q, double begin, double end) {
  const exact::Rational t(begin);
  exact::Rational until(end);
  std::array<exact::Rational, 4> now, rate;
  for (std::size_t k = 0; k < 4; ++k) {
    const exact::Rational a = exact::dot(n, exact::vector(q.from[k]));
    rate[k] = exact::dot(n, exact::vector(q.to[k])) - a;
    now[k] = a + t * rate[k];
  }
  for (std::size_t i = 0; i < first; ++i)
    for (std::size_t j = first; j < 4; ++j) {
      const exact::Rational height = now[i] - now[j], change = rate[i] - rate[j];
      if (!(height > 0)) return begin;
      if (change < 0) until = std::min(until, exact::Rational(t - exact::Rational(9, 10) * height / change));
    }
  return until < end ? until.get_d() : end;  // get_d rounds towards zero
}

/// Returns |n| (n̂ + a m̂), where m is the vector between the primitives' centroids at time t. If two corners nearly
/// touch, a plane with this normal is farther from all other corners.
template <int first>
exact::Vector tilted(const exact::Vector& n, const Query& q, double t, double a) {
  const Quad x = at(q, t);
  Vec3<double> m = {{0.0, 0.0, 0.0}};
  for (int k = 0; k < 4; ++k)
    m = m + detail::scaled(k < first ? 1.0 / first : -1.0 / (4 - first), x[static_cast<std::size_t>(k)]);
  const double scale = a * exact::length(n) / std::sqrt(dot(m, m));
  if (!std::isfinite(scale)) return n;
  const Vec3<double> shift = detail::scaled(scale, m);
  return exact::minus(n, exact::vector(detail::scaled(-1.0, shift)));
}

/// Returns true if a sequence of separating planes proves, in rational arithmetic, that the pair does not meet during
/// [0, end]. Each plane is the one of several candidates that separates the pair for the longest time.
template <int first>
bool proven_free(const Query& q, double end) {
  double time = 0.0;
  for (int planes = 0; planes < 2000; ++planes) {
    double next = separated_until<first>(direction<first>(q, time, false), q, time, end);
    if (next < end) {
      const exact::Vector n = direction<first>(q, time, true);
      for (const double a : {0.0, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0})
        next = std::max(next, separated_until<first>(tilted<first>(n, q, time, a), q, time, end));
      for (const double later : {0.5 * (time + end), end})
        next = std::max(next, separated_until<first>(direction<first>(q, later, true), q, time, end));
    }
    if (next == end) return true;
    if (!(next > time)) return false;
    time = next;
  }
  return false;
}

/// Returns a pair that meets at a dyadic time. All numbers are exact in doubles.
template <int first>
Query meeting(QuadSource& source) {
  const int half = source.integer(0, 3) == 0 ? 1 : 8;
  Quad x = source.grid(half);
  for (auto& p : x) p = detail::scaled(16.0, p);
  const int a = source.integer(0, 16), b = source.integer(0, 16);
  if (first == 1) {
    // the point has the barycentric coordinates (16 - m - n, m, n)/16 in the triangle
    const int m = std::min(a, b), n = std::max(a, b) - m;
    for (int c = 0; c < 3; ++c) x[0][c] = x[1][c] + (m * (x[2][c] - x[1][c]) + n * (x[3][c] - x[1][c])) / 16.0;
  } else {
    // shift edge 2 3 so that a point of each edge coincides
    for (int c = 0; c < 3; ++c) {
      const double shift = x[0][c] + a * (x[1][c] - x[0][c]) / 16.0 - x[2][c] - b * (x[3][c] - x[2][c]) / 16.0;
      x[2][c] += shift;
      x[3][c] += shift;
    }
  }
  const double size = std::pow(2.0, source.integer(-30, 30));
  const Vec3<double> place = source.integer(0, 1)
                                 ? detail::scaled(std::pow(2.0, source.integer(0, 16)), source.grid(2)[0])
                                 : Vec3<double>{{0, 0, 0}};
  Query q;
  q.known = source.integer(1, 64) / 64.0;
  const Quad velocity = source.grid(source.integer(0, 1) ? 1 : 50);
  for (std::size_t k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      const double v = 64.0 * velocity[k][c];
      q.from[k][c] = size * (x[k][c] + place[c] - q.known * v);
      q.to[k][c] = size * (x[k][c] + place[c] + (1.0 - q.known) * v);
    }
  return q;
}

/// Returns random motions: sliding, grazing, at rest, with a large common velocity, or approaching by chance.
Query wandering(QuadSource& source) {
  Query q;
  q.from = source.any();
  const double size = extent(q.from);
  const double amount = size * std::pow(10.0, source.uniform(-8.0, 1.0));
  Vec3<double> common = {{0, 0, 0}};
  if (source.integer(0, 2) == 0) common = source.point(size * std::pow(10.0, source.uniform(-2.0, 4.0)));
  const bool flat = source.integer(0, 2) == 0;  // slides along a coordinate plane
  for (std::size_t k = 0; k < 4; ++k) {
    Vec3<double> v = source.integer(0, 3) == 0 ? Vec3<double>{{0, 0, 0}} : source.point(amount);
    if (flat) v[2] = 0.0;
    q.to[k] = q.from[k] + v + common;
  }
  return q;
}

template <int first>
double step_of(const Query& q) {
  return first == 1 ? point_triangle_step(q.from.data(), q.to.data()) : edge_edge_step(q.from.data(), q.to.data());
}

template <int first>
void print(const Query& q) {
  std::printf("pair of %d and %d points\n", first, 4 - first);
  for (const Quad& x : {q.from, q.to})
    for (const auto& p : x) std::printf("  %a %a %a\n", p[0], p[1], p[2]);
}

template <int first>
void expect_no_false_negatives(std::uint64_t seed) {
  QuadSource source(seed);
  int unproven = 0, missed = 0, zero = 0, met = 0;
  for (int n = 0; n < num_queries(); ++n) {
    const Query q = n % 2 == 0 ? meeting<first>(source) : wandering(source);
    const double step = step_of<first>(q);
    ASSERT_TRUE(step >= 0.0 && step <= 1.0);
    if (step == 0.0) ++zero;
    met += q.known <= 1.0;
    const bool wrong = q.known <= 1.0 && step >= q.known;
    const bool proven = step == 0.0 || proven_free<first>(q, step);
    missed += wrong;
    unproven += !proven;
    if ((wrong || !proven) && missed + unproven < 4) print<first>(q);
  }
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(unproven, 0);
  EXPECT_LT(zero, num_queries() / 3);
  std::printf("%d queries, %d of them meet, %d touch at the start: %d missed, %d steps not proven free\n",
              num_queries(), met, zero, missed, unproven);
}

/// Pairs that earlier proofs did not settle.
TEST(ccd, narrow_passes_are_proven) {
  const Query corner = {{{{{0x1.0000000002599p+0, 0x1.0000000003693p+0, -0x1.0000000003386p+0}},
                          {{0x1.0000000001d04p+0, 0x1.00000000031d5p+0, -0x1.00000000032eap+0}},
                          {{0x1.04256e57d7de1p-45, 0x1.fffffffffb7e5p-1, -0x1.b7ca208b5671dp-39}},
                          {{0x1.00000000039a8p+0, 0x1.fffffffffcecfp-1, 0x1.0000000003388p+0}}}},
                        {{{{0x1.0000000002599p+0, 0x1.0000000003693p+0, -0x1.0000000003386p+0}},
                          {{0x1.0000000001d04p+0, 0x1.00000000031d5p+0, -0x1.00000000032eap+0}},
                          {{0x1.c2aa2daef70a8p-1, 0x1.fa15b5633ff1dp-1, 0x1.5e4f4f2ed19b9p+0}},
                          {{0x1.cfff47ac1166p-1, 0x1.a078ae7056d6fp+1, 0x1.bcb4ecd668416p+0}}}}};
  EXPECT_TRUE(proven_free<1>(corner, step_of<1>(corner)));
  const Query ends = {{{{{-0x1.000000004e359p+0, -0x1.22ea662710472p-33, -0x1.e32a7cf4101afp-34}},
                        {{-0x1.000000004e854p+0, -0x1.000000003fc9dp+0, 0x1.000000008f83ep+0}},
                        {{-0x1.00000000933bdp+0, -0x1.000000008e854p+0, 0x1.000000009257bp+0}},
                        {{0x1.ffffffff8f8cdp-1, 0x1.0000000016597p+0, 0x1.0000000033ff3p+0}}}},
                      {{{{0x1.50ee3c3f0fa48p+4, -0x1.fa79e7d80e09p+0, 0x1.12ff32f9d2154p+4}},
                        {{0x1.b2db2db3cd916p+4, 0x1.7bdc833d9b5dap+3, 0x1.ed085481341f4p+2}},
                        {{0x1.b2db2db3c945fp+4, 0x1.7bdc833d91864p+3, 0x1.ed08548134d43p+2}},
                        {{0x1.3873f4bfd45a5p+5, 0x1.ec23f45da25a7p+3, 0x1.c64f043da51aep+3}}}}};
  EXPECT_TRUE(proven_free<2>(ends, step_of<2>(ends)));
}

/// Checks motions of primitives with a thickness: the distance stays above the thickness, and the full step is returned
/// for motions that keep clear of the thickness.
template <int first>
void expect_thickness_kept(std::uint64_t seed) {
  QuadSource source(seed);
  int cut = 0, whole = 0, clear = 0;
  for (int n = 0; n < 4000; ++n) {
    Query q;
    q.from = source.generic();
    q.to = source.generic();
    const auto distance = [](const Quad& x) {
      return std::sqrt(first == 1 ? point_triangle_distance(x.data()).squared : edge_edge_distance(x.data()).squared);
    };
    const double start = distance(q.from);
    const double thickness = start * (n % 3 == 0 ? source.uniform(0.999, 1.0 - 1e-9) : source.uniform(0.0, 1.0));
    const double step = first == 1 ? point_triangle_step(q.from.data(), q.to.data(), thickness)
                                   : edge_edge_step(q.from.data(), q.to.data(), thickness);
    ASSERT_GT(step, 0.0);
    const double gap = start - thickness;
    for (int k = 0; k <= 200; ++k) EXPECT_GT(distance(at(q, step * k / 200.0)), thickness + 0.09 * gap);
    double least = start, way = 0.0;
    for (int k = 1; k <= 200; ++k) least = std::min(least, distance(at(q, k / 200.0)));
    for (std::size_t k = 0; k < 4; ++k) way = std::max(way, exact::length(exact::vector(q.to[k] - q.from[k])));
    if (least - way / 200.0 > thickness + 0.21 * gap) {
      ++clear;
      whole += step == 1.0;
    }
    cut += step < 1.0;
  }
  EXPECT_EQ(whole, clear);
  EXPECT_GT(clear, 100);
  EXPECT_GT(cut, 100);
}

TEST(ccd, point_triangle_keeps_a_thickness) { expect_thickness_kept<1>(13); }
TEST(ccd, edge_edge_keeps_a_thickness) { expect_thickness_kept<2>(14); }

TEST(ccd, begins_at_a_thickness_or_within_without_a_step) {
  const Quad from = {{{{0, 0, 1}}, {{-1, -1, 0}}, {{1, -1, 0}}, {{0, 1, 0}}}};
  Quad to = from;
  to[0][2] = 0.9;
  EXPECT_EQ(point_triangle_step(from.data(), to.data(), 1.0), 0.0);
  EXPECT_EQ(point_triangle_step(from.data(), to.data(), 1.5), 0.0);
  EXPECT_EQ(point_triangle_step(from.data(), to.data(), 0.5), 1.0);
}

TEST(ccd, point_triangle_has_no_false_negatives) { expect_no_false_negatives<1>(11); }
TEST(ccd, edge_edge_has_no_false_negatives) { expect_no_false_negatives<2>(12); }

/// Checks that steps are long. Motions that keep more than 0.21 of the initial distance are not shortened. Of the
/// shortened steps, at most one in a thousand ends at a distance above 0.21 times the initial one.
template <int first>
void expect_long_steps(std::uint64_t seed) {
  QuadSource source(seed);
  int free = 0, full = 0, cut = 0, far = 0;
  for (int n = 0; n < 4000; ++n) {
    Query q;
    q.from = source.generic();
    q.to = source.generic();
    const double step = step_of<first>(q);
    const auto distance = [](const Quad& x) {
      return std::sqrt(first == 1 ? point_triangle_distance(x.data()).squared : edge_edge_distance(x.data()).squared);
    };
    double least = distance(q.from);
    const double start = least;
    for (int k = 1; k <= 200; ++k) least = std::min(least, distance(at(q, k / 200.0)));
    // Between samples the distance changes by at most way/200: the nearest sample is at most 1/400 away in time, and
    // two points move by at most `way` per unit of time.
    double way = 0.0;
    for (std::size_t k = 0; k < 4; ++k) way = std::max(way, exact::length(exact::vector(q.to[k] - q.from[k])));
    if (least - way / 200.0 > 0.21 * start) {
      ++free;
      full += step == 1.0;
    }
    if (step < 1.0) {
      ++cut;
      far += distance(at(q, step)) > 0.21 * start;
    }
  }
  EXPECT_GT(free, 1000);
  EXPECT_EQ(full, free);
  EXPECT_GT(cut, 400);
  EXPECT_LE(far, cut / 1000);
}

TEST(ccd, steps_end_at_the_distance_kept) {
  expect_long_steps<1>(13);
  expect_long_steps<2>(14);
}

/// Checks that the distance minus the thickness stays above a tenth of its initial value during the whole step; a tenth
/// is half of the default `keep`.
template <int first>
void expect_gap_kept(std::uint64_t seed) {
  QuadSource source(seed);
  const auto distance = [](const Quad& x) {
    return std::sqrt(first == 1 ? point_triangle_distance(x.data()).squared : edge_edge_distance(x.data()).squared);
  };
  int free = 0;
  for (int n = 0; n < 4000; ++n) {
    Query q;
    q.from = source.generic();
    q.to = q.from;
    const double amount = std::pow(10.0, source.uniform(-3.0, 0.5));
    for (auto& p : q.to) p = p + source.point(amount);
    const double start = distance(q.from), thickness = source.integer(0, 1) * source.uniform(0.0, 0.9) * start;
    const double step = first == 1 ? point_triangle_step(q.from.data(), q.to.data(), thickness)
                                   : edge_edge_step(q.from.data(), q.to.data(), thickness);
    free += step == 1.0;
    for (int k = 1; k <= 16; ++k)
      EXPECT_GE(distance(at(q, step * k / 16)) - thickness, 0.1 * (start - thickness) * (1.0 - 1e-9)) << n;
  }
  EXPECT_GT(free, 1000);
}

TEST(ccd, steps_keep_a_part_of_the_gap_all_the_way) {
  expect_gap_kept<1>(15);
  expect_gap_kept<2>(16);
}

TEST(ccd, sliding_close_to_a_plane_is_not_cut) {
  Query q;
  q.from = {{{{0.1, 0.1, 1e-6}}, {{-10, -10, 0}}, {{10, -10, 0}}, {{0, 20, 0}}}};
  q.to = q.from;
  q.to[0] = {{3.0, 2.0, 1e-6}};
  EXPECT_EQ(step_of<1>(q), 1.0);
  q.to[0][2] = -1e-6;  // reaches the plane at t = 1/2, and the kept distance before
  EXPECT_NEAR(step_of<1>(q), 0.45, 0.01);
}

TEST(ccd, what_touches_or_is_not_finite_does_not_move) {
  Query q;
  q.from = {{{{0.2, 0.2, 0}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}};
  q.to = q.from;
  q.to[0] = {{0.2, 0.2, 1.0}};
  EXPECT_EQ(step_of<1>(q), 0.0);
  q.from[0][2] = 1.0;
  q.to[0][2] = std::nan("");
  EXPECT_EQ(step_of<1>(q), 0.0);
  for (std::size_t i = 0; i < 24; ++i) {
    Query apart;
    apart.from = {{{{0.2, 0.2, 5}}, {{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}}};
    apart.to = apart.from;
    EXPECT_EQ(step_of<1>(apart), 1.0);
    (i < 12 ? apart.from : apart.to)[i % 12 / 3][static_cast<int>(i % 3)] = std::nan("");
    EXPECT_EQ(step_of<1>(apart), 0.0) << i;
    EXPECT_EQ(step_of<2>(apart), 0.0) << i;
  }
}

}  // namespace
}  // namespace diffsim::contact::ccd_test
