// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Discrete gradients of an unknown's values: rows and measures against formulas, and products against the columns of
// the matrix. `prior_test` compares priors on several ranks with one rank.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "diffsim/inverse/prior.hpp"
#include "error_text.hpp"
#include "inverse/cell_geometry.hpp"
#include "mesh/body_meshes.hpp"

namespace diffsim::value_gradient_test {
namespace {

using Numbers = std::vector<double>;
using namespace testing_inverse;

constexpr std::array<double, 3> size{1.0, 0.7, 0.4};
constexpr double box_volume = 1.0 * 0.7 * 0.4;

std::shared_ptr<TetrahedralMesh> box(int order = 1) {
  return TetrahedralMesh::box(MPI_COMM_SELF, size, {2, 2, 1}, order);
}

double sum(const Numbers& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(value_gradient, of_steps_is_the_rate_of_change) {
  const ValueGradient gradient = ValueGradient::of_steps(MPI_COMM_SELF, 3, 2, 0.5);
  EXPECT_EQ(gradient.dimension(), 1);
  EXPECT_EQ(gradient.width(), 2u);
  EXPECT_EQ(gradient.size(), 6u);
  EXPECT_EQ(gradient.measure(), Numbers(4, 0.5));
  EXPECT_EQ(gradient.lumped(), Numbers(6, 0.5));
  EXPECT_EQ(gradient.times({1, 2, 4, 1, 5, 3}), (Numbers{6, -2, 2, 4}));
  EXPECT_EQ(gradient.transpose_times({1, 2, 3, 4}), (Numbers{-2, -4, -4, -4, 6, 8}));
  // K u = Dᵀ (½ D u)
  EXPECT_EQ(gradient.stiffness_times({1, 2, 4, 1, 5, 3}), (Numbers{-6, 2, 4, -6, 2, 4}));
}

TEST(value_gradient, of_vertices_is_exact_for_linear_functions) {
  const double slopes[2][3] = {{2.0, -1.0, 0.5}, {0.0, 3.0, -4.0}};
  for (const int order : {1, 2}) {
    const auto mesh = box(order);
    const ValueGradient gradient = ValueGradient::of_vertices(*mesh, 2);
    Numbers u;
    for (int v = 0; v < mesh->num_vertices(); ++v)
      for (const auto& g : slopes) u.push_back(0.3 + dot(position(*mesh, v), {g[0], g[1], g[2]}));
    const Numbers rows = gradient.times(u);
    EXPECT_EQ(gradient.dimension(), 3);
    ASSERT_EQ(gradient.width(), 6u);
    EXPECT_EQ(rows.size(), 6 * static_cast<std::size_t>(mesh->num_cells()) * (order == 1 ? 1 : 8));
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], slopes[i / 3 % 2][i % 3], 1e-12) << i;
    EXPECT_NEAR(sum(gradient.measure()), 6.0 * box_volume, 1e-13);
    EXPECT_NEAR(sum(gradient.lumped()), 2.0 * box_volume, 1e-13);
  }
}

TEST(value_gradient, across_faces_is_the_difference_over_the_distance_along_the_normal) {
  const auto mesh = box();
  const ValueGradient gradient = ValueGradient::across_faces(*mesh);
  ASSERT_EQ(gradient.size(), static_cast<std::size_t>(mesh->num_cells()));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR(gradient.lumped()[i], Cell(*mesh, i).volume, 1e-15) << i;
  std::set<std::array<std::int64_t, 2>> seen;
  gradient.for_each_row([&](const std::vector<std::int64_t>& columns, const Numbers& entries, double measure) {
    ASSERT_EQ(columns.size(), 2u);
    const Cell one(*mesh, static_cast<std::size_t>(columns[0])), other(*mesh, static_cast<std::size_t>(columns[1]));
    std::vector<Point> face;
    for (std::size_t i = 0; i < 4; ++i)
      if (std::count(other.corners.begin(), other.corners.end(), one.corners[i]) > 0) face.push_back(one.x[i]);
    ASSERT_EQ(face.size(), 3u);
    const Point normal = cross(minus(face[1], face[0]), minus(face[2], face[0]));
    const double twice = std::sqrt(dot(normal, normal));
    const double distance = std::abs(dot(minus(other.centroid, one.centroid), normal)) / twice;
    EXPECT_NEAR(std::abs(entries[0]), 1.0 / distance, 1e-12 / distance);
    EXPECT_EQ(entries[0], -entries[1]);
    EXPECT_NEAR(measure, 0.5 * twice * distance, 1e-14);
    seen.insert({std::min(columns[0], columns[1]), std::max(columns[0], columns[1])});
  });
  // Each tetrahedron has four faces; the faces on the boundary belong to one tetrahedron, the others to two.
  EXPECT_EQ(seen.size(), (4 * gradient.size() - mesh->boundary().size()) / 2);
  EXPECT_EQ(gradient.measure().size(), seen.size());
}

TEST(value_gradient, of_cells_is_zero_for_constants_and_has_the_rows_of_faces) {
  const auto mesh = box();
  const ValueGradient gradient = ValueGradient::of_cells(*mesh), across = ValueGradient::across_faces(*mesh);
  const std::size_t cells = gradient.size(), faces = across.measure().size();
  EXPECT_EQ(gradient.width(), 0u);
  ASSERT_EQ(gradient.measure().size(), 3 * cells + faces);
  for (std::size_t i = 0; i < 3 * cells; ++i) EXPECT_EQ(gradient.measure()[i], gradient.lumped()[i / 3]) << i;
  for (std::size_t i = 0; i < faces; ++i)
    EXPECT_NEAR(gradient.measure()[3 * cells + i], across.measure()[i], 1e-15) << i;
  for (const double row : gradient.times(Numbers(cells, 7.0))) EXPECT_NEAR(row, 0.0, 1e-10);
}

TEST(value_gradient, products_are_those_of_the_matrix) {
  const auto mesh = box();
  for (const auto& make : {ValueGradient::of_cells, ValueGradient::across_faces}) {
    const ValueGradient gradient = make(*mesh);
    const std::size_t n = gradient.size(), rows = gradient.measure().size();
    std::vector<Numbers> columns;
    Numbers y(rows), u(n), stiffness(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) y[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
    for (std::size_t j = 0; j < n; ++j) {
      Numbers unit(n, 0.0);
      unit[j] = 1.0;
      u[j] = std::cos(1.9 * static_cast<double>(j));
      columns.push_back(gradient.times(unit));
      for (std::size_t i = 0; i < rows; ++i) stiffness[i] += gradient.measure()[i] * columns[j][i] * u[j];
    }
    const Numbers transposed = gradient.transpose_times(y), product = gradient.stiffness_times(u);
    for (std::size_t j = 0; j < n; ++j) {
      double by_y = 0.0, by_u = 0.0;
      for (std::size_t i = 0; i < rows; ++i) {
        by_y += columns[j][i] * y[i];
        by_u += columns[j][i] * stiffness[i];
      }
      EXPECT_NEAR(transposed[j], by_y, 1e-10) << j;
      EXPECT_NEAR(product[j], by_u, 1e-10) << j;
    }
  }
}

TEST(value_gradient, of_vertices_needs_tetrahedra) {
  const TetrahedralMesh sheet(MPI_COMM_SELF, testing_mesh::grid_of_triangles({2, 2}, {1.0, 1.0}, 0.0));
  EXPECT_CONTAINS(error_of([&] { ValueGradient::of_vertices(sheet, 1); }), "need a tetrahedron at each vertex");
}

}  // namespace
}  // namespace diffsim::value_gradient_test
