// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the exact checks of contact states, with triangles that meet, or miss each other by one unit in the last
// place.

#include "exact_surface.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace diffsim::contact::exact::exact_surface_test {
namespace {

constexpr double hair = 0x1p-52;

TEST(exact_surface, orientations_are_decided_where_doubles_cannot) {
  // Points of a plane that is oblique to the axes, up to rounding.
  const Place a = {0.1, 0.1, 0.1}, b = {1.1, 0.1, -0.9}, c = {0.1, 1.1, -0.9};
  for (const Place& d : {Place{0.5, 0.5, -0.7}, Place{12.0, 12.0, -23.7}}) {
    mpq_class off = 0;
    for (std::size_t k = 0; k < 3; ++k) off += mpq_class(d[k]) - mpq_class(a[k]);
    // Since b and c are rounded, the expected sign is that of the exact determinant.
    mpq_class e[3][3], det = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      e[0][k] = mpq_class(b[k]) - mpq_class(a[k]);
      e[1][k] = mpq_class(c[k]) - mpq_class(a[k]);
      e[2][k] = mpq_class(d[k]) - mpq_class(a[k]);
    }
    for (std::size_t k = 0; k < 3; ++k)
      det += e[0][k] * (e[1][(k + 1) % 3] * e[2][(k + 2) % 3] - e[1][(k + 2) % 3] * e[2][(k + 1) % 3]);
    EXPECT_EQ(orientation(a, b, c, d), sgn(det));
  }
  EXPECT_EQ(orientation({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 0}), 0);
  EXPECT_EQ(orientation({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 5e-324}), 1);
  EXPECT_EQ(orientation({1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1.3, 1.3, 1 - hair}), -1);
}

/// Returns true if the triangles meet, and checks that the result does not depend on the order of corners and
/// triangles.
bool pair_meets(const TriangleSet& set, const Corners& a, const Corners& b) {
  const bool first = triangles_meet(set, a, b);
  for (const Corners& x : {a, Corners{a[1], a[2], a[0]}, Corners{a[1], a[0], a[2]}})
    for (const Corners& y : {b, Corners{b[2], b[0], b[1]}, Corners{b[2], b[1], b[0]}}) {
      EXPECT_EQ(triangles_meet(set, x, y), first);
      EXPECT_EQ(triangles_meet(set, y, x), first);
    }
  return first;
}

bool pair_meets(const std::array<Place, 3>& a, const std::array<Place, 3>& b) {
  return pair_meets({{a[0], a[1], a[2], b[0], b[1], b[2]}, {}}, {0, 1, 2}, {3, 4, 5});
}

const std::array<Place, 3> floor_triangle = {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};

TEST(exact_surface, triangles_without_common_corners) {
  const auto spike = [](double x, double y, double z) {
    return std::array<Place, 3>{{{x, y, z}, {x + 0.3, y, z + 1}, {x, y + 0.3, z + 1}}};
  };
  EXPECT_TRUE(pair_meets(floor_triangle, spike(0.2, 0.2, 0.5)));        // through the face
  EXPECT_TRUE(pair_meets(floor_triangle, spike(0.2, 0.2, 1)));          // corner on face
  EXPECT_FALSE(pair_meets(floor_triangle, spike(0.2, 0.2, 1 + hair)));  // a hair above
  EXPECT_TRUE(pair_meets(floor_triangle, spike(0.5, 0.5, 1)));          // corner on edge
  EXPECT_FALSE(pair_meets(floor_triangle, spike(0.5, 0.5 + hair, 1)));  // a hair beside the edge
  EXPECT_TRUE(pair_meets(floor_triangle, spike(1, 0, 1)));              // corner on corner
  EXPECT_FALSE(pair_meets(floor_triangle, spike(1 + hair, 0, 1)));
  const auto edge = [](double x, double z) { return std::array<Place, 3>{{{x, -1, z}, {x, 2, z}, {x, 0, z + 1}}}; };
  EXPECT_TRUE(pair_meets(floor_triangle, edge(0.5, 1)));  // edge on edges, through the face
  EXPECT_FALSE(pair_meets(floor_triangle, edge(0.5, 1 + hair)));
  EXPECT_TRUE(pair_meets(floor_triangle, edge(0, 1)));  // edges on one line
  EXPECT_FALSE(pair_meets(floor_triangle, edge(-5e-324, 1)));
}

TEST(exact_surface, triangles_of_one_plane) {
  const auto flat = [](double x, double y, double size) {
    return std::array<Place, 3>{{{x, y, 1}, {x + size, y, 1}, {x, y + size, 1}}};
  };
  EXPECT_TRUE(pair_meets(floor_triangle, flat(0.25, 0.25, 0.125)));  // one in the other
  EXPECT_TRUE(pair_meets(floor_triangle, flat(-1, -1, 9)));
  EXPECT_TRUE(pair_meets(floor_triangle, flat(0.5, 0.25, 1)));
  EXPECT_TRUE(pair_meets(floor_triangle, flat(0.5, 0.5, 1)));  // corner on edge
  EXPECT_FALSE(pair_meets(floor_triangle, flat(0.5, 0.5 + hair, 1)));
  EXPECT_TRUE(pair_meets(floor_triangle, flat(1, 0, 1)));  // corner on corner
  EXPECT_FALSE(pair_meets(floor_triangle, flat(1 + hair, 0, 1)));
}

TEST(exact_surface, triangles_with_common_corners) {
  TriangleSet set;
  set.places = {{0, 0, 0},   {1, 0, 0}, {0, 1, 0},       {0, 0, 1},        {0.25, 0.25, 0}, {0.25, 0.25, hair},
                {-1, -1, 0}, {1, 1, 0}, {0.25, 0.25, 1}, {0.25, 0.25, -1}, {0.5, 0.5, 1},   {0.5, 0.5 + hair, -1}};
  EXPECT_FALSE(pair_meets(set, {0, 1, 2}, {0, 1, 3}));  // a common edge
  EXPECT_FALSE(pair_meets(set, {0, 1, 2}, {1, 2, 7}));  // flat, side by side
  EXPECT_TRUE(pair_meets(set, {0, 1, 2}, {0, 1, 4}));   // folded onto the first triangle
  EXPECT_FALSE(pair_meets(set, {0, 1, 2}, {0, 1, 5}));  // folded onto the first triangle up to a hair
  EXPECT_FALSE(pair_meets(set, {0, 1, 2}, {0, 3, 6}));  // a common corner
  EXPECT_TRUE(pair_meets(set, {0, 1, 2}, {0, 3, 4}));   // an edge of the second triangle lies in the first
  EXPECT_TRUE(pair_meets(set, {0, 1, 2}, {0, 8, 9}));   // the second triangle passes through the first
  EXPECT_FALSE(pair_meets(set, {0, 1, 2}, {0, 3, 5}));  // a hair above
  EXPECT_TRUE(pair_meets(set, {0, 1, 2}, {0, 1, 2}));
}

/// Returns the surface of a tetrahedron, shifted by (x, y, z).
TriangleSet tetrahedron(double x, double y, double z) {
  TriangleSet set;
  set.places = {{x, y, z}, {x + 1, y, z}, {x, y + 1, z}, {x, y, z + 1}};
  set.triangles = surface_of({0, 1, 2, 3}, 4);
  return set;
}

TEST(exact_surface, planted_intersections_are_found) {
  TriangleSet set = tetrahedron(0, 0, 0);
  EXPECT_TRUE(intersections(set, 4).empty());
  EXPECT_EQ(degenerate(set), 0);
  TriangleSet apart = set;
  apart.append(tetrahedron(0.25, 0.25, -1 - hair));
  EXPECT_TRUE(intersections(apart, 8).empty());
  TriangleSet touching = set;
  touching.append(tetrahedron(0.25, 0.25, -1));
  EXPECT_EQ(intersections(touching, 8).size(), 3u);  // the three triangles at the tip meet the base
  EXPECT_EQ(intersections(touching, 0).size(), 0u);  // pairs of obstacle triangles are not tested
  EXPECT_EQ(intersections(touching, 4).size(), 3u);
}

TEST(exact_surface, windings_tell_inside_from_outside) {
  TriangleSet set = tetrahedron(0, 0, 0);
  EXPECT_EQ(winding({0.25, 0.25, 0.25}, set), 1);
  EXPECT_EQ(winding({0.25, 0.25, hair}, set), 1);
  EXPECT_EQ(winding({0.25, 0.25, -hair}, set), 0);
  EXPECT_EQ(winding({0.25, 0.25, -3}, set), 0);
  EXPECT_EQ(winding({2, 2, 2}, set), 0);
}

TEST(exact_surface, inverted_cells_are_found) {
  std::vector<Place> places = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, hair}};
  EXPECT_EQ(inverted(places, {0, 1, 2, 3}, 4), 0);
  EXPECT_EQ(inverted(places, {0, 2, 1, 3, 0, 1, 2, 3}, 4), 1);
  places[3][2] = 0;
  EXPECT_EQ(inverted(places, {0, 1, 2, 3}, 4), 1);
  places = {{0, 0, 0},   {1, 0, 0},  {0, 1, 0},  {0, 0, 1},   {.5, 0, 0},
            {.5, .5, 0}, {0, .5, 0}, {0, 0, .5}, {.5, 0, .5}, {0, .5, .5}};
  const std::vector<int> cell = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(inverted(places, cell, 10), 0);
  places[4][0] = 0.2;  // 4·0.2 - 1 < 0
  EXPECT_EQ(inverted(places, cell, 10), 1);
  EXPECT_EQ(surface_of(cell, 10).size(), 16u);
  int volume = 0;  // oriented outwards: all triangles see the interior point from behind
  places[4][0] = 0.5;
  for (const Corners& t : surface_of(cell, 10))
    volume += orientation(places[static_cast<std::size_t>(t[0])], places[static_cast<std::size_t>(t[1])],
                          places[static_cast<std::size_t>(t[2])], {0.2, 0.2, 0.2});
  EXPECT_EQ(volume, -16);
}

}  // namespace
}  // namespace diffsim::contact::exact::exact_surface_test
