// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/inside.hpp"

#include <gtest/gtest.h>

#include "contact/obstacles.hpp"

namespace diffsim::contact::inside_test {
namespace {

double winding_of(const TriangleMesh& mesh, const std::array<double, 3>& p) {
  std::vector<double> places;
  for (const auto& x : mesh.vertices) places.insert(places.end(), x.begin(), x.end());
  return winding(places, mesh.triangles, p);
}

TEST(inside, windings_tell_inside_from_outside) {
  const TriangleMesh box = box_triangles({0, 0, 0}, {1, 2, 3});
  for (const double y : {1e-9, 0.4, 1.0, 2.0 - 1e-9}) EXPECT_NEAR(winding_of(box, {0.3, y, 1.1}), 1.0, 1e-12);
  for (const double y : {-1e-9, -3.0, 2.0 + 1e-9}) EXPECT_NEAR(winding_of(box, {0.3, y, 1.1}), 0.0, 1e-12);
  EXPECT_NEAR(winding_of(sphere_triangles({1, 1, 1}, 0.5), {1.1, 0.9, 1.2}), 1.0, 1e-10);
  TriangleMesh shell = box;  // with a cavity
  const TriangleMesh hollow = box_triangles({0.2, 0.2, 0.2}, {0.8, 1.8, 2.8});
  for (const auto& t : hollow.triangles) shell.triangles.push_back({8 + t[0], 8 + t[2], 8 + t[1]});
  shell.vertices.insert(shell.vertices.end(), hollow.vertices.begin(), hollow.vertices.end());
  EXPECT_NEAR(winding_of(shell, {0.5, 0.5, 0.5}), 0.0, 1e-12);
  EXPECT_NEAR(winding_of(shell, {0.1, 0.5, 0.5}), 1.0, 1e-12);
}

TEST(inside, witnesses_are_one_of_each_part) {
  EXPECT_EQ(witnesses({5, 3, 4, 1, 2, 4, 8, 7, 9}, 3, 11), (std::vector<int>{1, 7}));
  EXPECT_EQ(witnesses({}, 3, 11), std::vector<int>{});
}

}  // namespace
}  // namespace diffsim::contact::inside_test
