// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/cell_defects.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mesh/validate.hpp"

namespace diffsim::cell_defects_test {
namespace {

QuadraticCell corners(double scale, double height) {
  QuadraticCell x{};
  x[1] = {scale, 0.0, 0.0};
  x[2] = {0.0, scale, 0.0};
  x[3] = {0.0, 0.0, height * scale};
  return x;
}

TEST(CellDefects, TheDeterminantDoesNotDependOnTheScale) {
  // det = scale³ height; the longest edge is √2 scale.
  for (const double scale : {1e-200, 1e-3, 1.0, 1e200}) {
    const CellSize size = cell_size(corners(scale, 0.5));
    EXPECT_NEAR(size.determinant, 0.5 / std::pow(2.0, 1.5), 1e-15) << scale;
    EXPECT_NEAR(size.longest / scale, std::sqrt(2.0), 1e-15) << scale;
    EXPECT_TRUE(size.is_good());
    EXPECT_TRUE(cell_size(corners(scale, -0.5)).is_inverted());
  }
}

TEST(CellDefects, FlatCellsAreNeitherGoodNorInverted) {
  for (const double height : {0.0, 1e-15, -1e-15}) {
    const CellSize size = cell_size(corners(1.0, height));
    EXPECT_FALSE(size.is_good()) << height;
    EXPECT_FALSE(size.is_inverted()) << height;
    EXPECT_NE(size_error(size, 0, 3).find("zero volume"), std::string::npos) << height;
  }
  const CellSize point = cell_size(corners(0.0, 1.0)), endless = cell_size(corners(1e308, 1e308));
  EXPECT_EQ(point.longest, 0.0);
  EXPECT_FALSE(point.is_good());
  EXPECT_TRUE(std::isinf(endless.longest));
  const CellSize diagonal = cell_size(corners(1.5e308, 1.0));  // finite components, but √2 · 1.5e308 is infinite
  EXPECT_TRUE(std::isinf(diagonal.longest));
  EXPECT_FALSE(diagonal.is_good());
  EXPECT_NE(size_error(endless, 0, 1).find("too long"), std::string::npos);
}

TEST(CellDefects, VertexNumbersAreInRangeAndDifferent) {
  const std::int64_t good[4] = {3, 0, 2, 1}, outside[4] = {3, 0, 4, 1}, negative[4] = {3, -1, 2, 1},
                     twice[4] = {3, 0, 2, 3};
  EXPECT_EQ(vertex_number_error(good, 4, 4), "");
  EXPECT_NE(vertex_number_error(outside, 4, 4).find("vertex 4, but vertices are numbered 0 to 3"), std::string::npos);
  EXPECT_NE(vertex_number_error(negative, 4, 4).find("vertex -1"), std::string::npos);
  EXPECT_EQ(vertex_number_error(twice, 4, 4),
            " has vertex 3 twice; remove the cell or give it four different vertices");
  const std::int64_t segment[2] = {1, 1};
  EXPECT_EQ(vertex_number_error(segment, 2, 4),
            " has vertex 1 twice; remove the cell or give it two different vertices");
}

TEST(CellDefects, FindsRepeatedCellsAndFacesOfThreeCells) {
  const std::int64_t cells[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}, {5, 0, 1, 2}};
  const auto faces_of = [&](std::initializer_list<int> chosen) {
    std::vector<CellFace> faces;
    for (const int c : chosen)
      for (int a = 0; a < 4; ++a) faces.push_back(face_of(cells[c], a, c));
    return faces;
  };
  std::vector<CellFace> two = faces_of({0, 1}), three = faces_of({0, 1, 2}), same = faces_of({0});
  EXPECT_FALSE(face_defect(two).has_value());
  const auto shared = face_defect(three);
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->index, 2);
  EXPECT_NE(shared->what.find("the face of vertices 0, 1, 2"), std::string::npos);
  const std::int64_t copy[4] = {1, 2, 3, 0};
  for (int a = 0; a < 4; ++a) same.push_back(face_of(copy, a, 7));
  const auto repeated = face_defect(same);
  ASSERT_TRUE(repeated.has_value());
  EXPECT_EQ(repeated->index, 7);
  EXPECT_NE(repeated->what.find("the same vertices as cell 0"), std::string::npos);
}

TEST(CellDefects, FindsRepeatedCellsOfLowerDimension) {
  const std::int64_t cells[4][3] = {{0, 1, 2}, {1, 2, 3}, {0, 2, 3}, {2, 0, 1}};
  std::vector<CellFace> triangles, segments, points;
  for (const int c : {0, 1, 2}) {
    triangles.push_back(lower_cell(cells[c], 3, c));
    segments.push_back(lower_cell(cells[c], 2, c));
    points.push_back(lower_cell(&cells[0][c], 1, c));
  }
  EXPECT_FALSE(face_defect(triangles, "triangle").has_value());
  EXPECT_FALSE(face_defect(segments, "segment").has_value());
  EXPECT_FALSE(face_defect(points, "point").has_value());
  triangles.push_back(lower_cell(cells[3], 3, 3));
  const std::int64_t reversed[2] = {2, 1};
  segments.push_back(lower_cell(reversed, 2, 3));
  points.push_back(lower_cell(&cells[0][2], 1, 3));
  const auto triangle = face_defect(triangles, "triangle"), segment = face_defect(segments, "segment"),
             point = face_defect(points, "point");
  ASSERT_TRUE(triangle.has_value() && segment.has_value() && point.has_value());
  for (const auto& defect : {*triangle, *segment, *point}) EXPECT_EQ(defect.index, 3);
  EXPECT_EQ(triangle->what, " has the same vertices as triangle 0; remove one of the two");
  EXPECT_EQ(segment->what, " has the same vertices as segment 1; remove one of the two");
  EXPECT_EQ(point->what, " has the same vertices as point 2; remove one of the two");
}

TEST(CellDefects, FindsVerticesAtTheSamePosition) {
  std::vector<PlacedVertex> vertices{{{0.0, 1.0, 2.0}, 4}, {{0.0, 1.0, 3.0}, 0}, {{-0.0, 1.0, 2.0}, 9}};
  const auto defect = coincident_vertices(vertices);
  ASSERT_TRUE(defect.has_value());
  EXPECT_EQ(defect->index, 9);
  EXPECT_NE(defect->what.find("as vertex 4"), std::string::npos);
  vertices = {{{0.0, 1.0, 2.0}, 4}, {{0.0, 1.0, 3.0}, 0}};
  EXPECT_FALSE(coincident_vertices(vertices).has_value());
}

}  // namespace
}  // namespace diffsim::cell_defects_test
