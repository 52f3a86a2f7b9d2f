// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/construction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "diffsim/core/error.hpp"
#include "mesh/validate.hpp"

namespace diffsim::box_test {
namespace {

using Vector = std::array<double, 3>;

Vector position(const MeshData& mesh, std::int64_t vertex) {
  const double* x = &mesh.coordinates[3 * static_cast<std::size_t>(vertex)];
  return {x[0], x[1], x[2]};
}

Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

std::array<std::int64_t, 3> face_vertices(const MeshData& mesh, std::int64_t cell, int face) {
  const std::int64_t* v = &mesh.cells[4 * static_cast<std::size_t>(cell)];
  return {v[(face + 1) % 4], v[(face + 2) % 4], v[(face + 3) % 4]};
}

TEST(Box, NumbersVerticesAndBricksXFastest) {
  const auto mesh = box_mesh({2, 3, 4}, {2, 3, 4}, 0, 1);
  EXPECT_EQ(mesh.num_vertices, 3 * 4 * 5);
  EXPECT_EQ(mesh.num_cells, 6 * 2 * 3 * 4);
  EXPECT_EQ(position(mesh, 1), (Vector{1, 0, 0}));
  EXPECT_EQ(position(mesh, 3), (Vector{0, 1, 0}));
  EXPECT_EQ(position(mesh, 12), (Vector{0, 0, 1}));
  EXPECT_EQ(position(mesh, 59), (Vector{2, 3, 4}));
  for (std::int64_t c = 0; c < mesh.num_cells; ++c) {
    const std::int64_t brick = c / 6;
    const Vector corner = {double(brick % 2), double(brick / 2 % 3), double(brick / 6)};
    for (int i = 0; i < 4; ++i) {
      const Vector offset = minus(position(mesh, mesh.cells[static_cast<std::size_t>(4 * c + i)]), corner);
      for (const double x : offset) EXPECT_TRUE(x == 0 || x == 1) << "cell " << c;
    }
  }
}

TEST(Box, IsValidAndFillsItsVolume) {
  for (const std::array<int, 3> cells : {std::array{1, 1, 1}, {1, 1, 5}, {5, 1, 1}, {3, 4, 5}}) {
    const auto mesh = box_mesh({1, 0.2, 0.3}, cells, 0, 1);
    EXPECT_EQ(validate_cells(mesh, "box"), 0);
    double volume = 0;
    for (std::int64_t c = 0; c < mesh.num_cells; ++c) {
      const auto face = face_vertices(mesh, c, 0);
      const Vector x0 = position(mesh, mesh.cells[static_cast<std::size_t>(4 * c)]);
      const Vector a = minus(position(mesh, face[0]), x0), b = minus(position(mesh, face[1]), x0),
                   d = minus(position(mesh, face[2]), x0);
      volume += dot(a, cross(b, d)) / 6;
    }
    EXPECT_NEAR(volume, 1 * 0.2 * 0.3, 1e-15);
  }
}

/// Checks that the faces of a single cell are exactly the faces of the six sides, each in one region. All other faces
/// are therefore shared by conforming neighbours.
TEST(Box, SidesAreTheFacesOfOneCellOnly) {
  const Vector size = {1, 0.2, 0.3};
  const auto mesh = box_mesh(size, {3, 4, 5}, 0, 1);
  std::map<std::array<std::int64_t, 3>, int> cells_of;
  for (std::int64_t c = 0; c < mesh.num_cells; ++c)
    for (int face = 0; face < 4; ++face) {
      auto vertices = face_vertices(mesh, c, face);
      std::sort(vertices.begin(), vertices.end());
      ++cells_of[vertices];
    }
  const auto single = std::count_if(cells_of.begin(), cells_of.end(), [](const auto& f) { return f.second == 1; });
  EXPECT_EQ(static_cast<std::size_t>(single), mesh.face_regions.size());

  ASSERT_EQ(mesh.regions.size(), 6u);
  std::array<double, 6> area{};
  for (const auto& entry : mesh.face_regions) {
    const auto region = static_cast<std::size_t>(entry.region);
    const std::size_t axis = region / 2;
    EXPECT_EQ(mesh.regions[region].name, std::string(1, "xyz"[axis]) + (region % 2 == 0 ? "_min" : "_max"));
    EXPECT_EQ(mesh.regions[region].dimension, 2);
    EXPECT_EQ(mesh.regions[region].tag, entry.region + 1);
    auto vertices = face_vertices(mesh, entry.cell, entry.face);
    for (const std::int64_t v : vertices) EXPECT_EQ(position(mesh, v)[axis], region % 2 == 0 ? 0 : size[axis]);
    const Vector x0 = position(mesh, vertices[0]);
    const Vector normal = cross(minus(position(mesh, vertices[1]), x0), minus(position(mesh, vertices[2]), x0));
    area[region] += std::sqrt(dot(normal, normal)) / 2;
    std::sort(vertices.begin(), vertices.end());
    EXPECT_EQ(cells_of[vertices], 1);
  }
  for (std::size_t region = 0; region < 6; ++region)
    EXPECT_NEAR(area[region], size[(region / 2 + 1) % 3] * size[(region / 2 + 2) % 3], 1e-15);
}

TEST(Box, BlocksOfAllRanksMakeTheWhole) {
  const auto whole = box_mesh({1, 2, 3}, {2, 3, 2}, 0, 1);
  for (const int ranks : {2, 3, 7, 40}) {
    SCOPED_TRACE(ranks);
    MeshData sum;
    std::int64_t least = whole.num_cells, most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto block = box_mesh({1, 2, 3}, {2, 3, 2}, rank, ranks);
      EXPECT_EQ(block.num_cells, whole.num_cells);
      EXPECT_EQ(block.num_vertices, whole.num_vertices);
      EXPECT_EQ(block.regions.size(), 6u);
      EXPECT_EQ(4 * block.first_cell, static_cast<std::int64_t>(sum.cells.size()));
      EXPECT_EQ(3 * block.first_vertex, static_cast<std::int64_t>(sum.coordinates.size()));
      const auto cells = static_cast<std::int64_t>(block.cells.size()) / 4;
      least = std::min(least, cells);
      most = std::max(most, cells);
      for (const auto& entry : block.face_regions)
        EXPECT_TRUE(entry.cell >= block.first_cell && entry.cell < block.first_cell + cells);
      sum.cells.insert(sum.cells.end(), block.cells.begin(), block.cells.end());
      sum.coordinates.insert(sum.coordinates.end(), block.coordinates.begin(), block.coordinates.end());
      sum.face_regions.insert(sum.face_regions.end(), block.face_regions.begin(), block.face_regions.end());
    }
    EXPECT_LE(most - least, 6);
    EXPECT_EQ(sum.cells, whole.cells);
    EXPECT_EQ(sum.coordinates, whole.coordinates);
    const auto key = [](const auto& e) { return std::tie(e.region, e.cell, e.face); };
    std::sort(sum.face_regions.begin(), sum.face_regions.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    EXPECT_TRUE(std::equal(sum.face_regions.begin(), sum.face_regions.end(), whole.face_regions.begin(),
                           whole.face_regions.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }));
  }
}

/// Block of one rank among a billion, with numbers beyond 32 bits.
TEST(Box, NumbersBeyond32Bits) {
  const int ranks = 1000000000;
  const auto block = box_mesh({1, 1, 1}, {100000, 100000, 1000}, ranks - 1, ranks);
  EXPECT_EQ(block.num_cells, 60'000'000'000'000);
  EXPECT_EQ(block.first_cell, 60'000'000'000'000 - 60'000);
  EXPECT_EQ(block.cells.back(), block.num_vertices - 1);
  EXPECT_EQ(block.num_vertices, 100001LL * 100001 * 1001);
  EXPECT_EQ(block.coordinates.back(), 1.0);
}

TEST(Box, RefusesBadArguments) {
  const auto expect_refused = [](const Vector& size, const std::array<int, 3>& cells, const std::string& message) {
    try {
      box_mesh(size, cells, 0, 1);
      ADD_FAILURE() << "accepted; expected: " << message;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr int most = std::numeric_limits<int>::max();
  expect_refused({0, 1, 1}, {1, 1, 1}, "size in x is 0");
  expect_refused({1, -1, 1}, {1, 1, 1}, "size in y is -1");
  expect_refused({1, 1, infinity}, {1, 1, 1}, "size in z is inf");
  expect_refused({1, 1, std::nan("")}, {1, 1, 1}, "size in z is nan");
  expect_refused({1, 1, 1}, {1, 0, 1}, "number of cells in y is 0");
  expect_refused({1, 1, 1}, {1, 1, -5}, "number of cells in z is -5");
  expect_refused({1, 1, 1e-310}, {1, 1, 1}, "size in z is too small");
  expect_refused({1, 1, 1e-15}, {1, 1, 1}, "too flat");
  expect_refused({1, 1, 1}, {most, most, most}, "more tetrahedra than 64-bit numbers");
  expect_refused({1, 1, 1}, {1000000, 1000000, 1000000}, "exceed this machine's memory");
  EXPECT_THROW(box_mesh({1, 1, 1}, {1, 1, 1}, 0, 0), Error);
  EXPECT_THROW(box_mesh({1, 1, 1}, {1, 1, 1}, 3, 3), Error);
  EXPECT_THROW(box_mesh({1, 1, 1}, {1, 1, 1}, -1, 3), Error);
}

}  // namespace
}  // namespace diffsim::box_test
