// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/validate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::validate_test {
namespace {

using Points = std::vector<std::array<double, 3>>;
using Cells = std::vector<std::array<std::int64_t, 4>>;

MeshData make_mesh(const Points& points, const Cells& cells) {
  MeshData mesh;
  for (const auto& point : points) mesh.coordinates.insert(mesh.coordinates.end(), point.begin(), point.end());
  for (const auto& cell : cells) mesh.cells.insert(mesh.cells.end(), cell.begin(), cell.end());
  mesh.num_vertices = static_cast<std::int64_t>(points.size());
  mesh.num_cells = static_cast<std::int64_t>(cells.size());
  return mesh;
}

/// Vertices of the unit corner tetrahedron, and one point beyond each of its faces 0 (x + y + z = 1) and 3 (z = 0).
const Points corner = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {0, 0, -1}};

void expect_refused(const MeshData& mesh, const std::string& message, const ValidateOptions& options = {}) {
  try {
    validate_cells(mesh, "a.msh", options);
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("a.msh", 0), 0u) << text;
    EXPECT_NE(text.find(message), std::string::npos) << text << "\nexpected: " << message;
    EXPECT_NE(text.find("; "), std::string::npos) << "says nothing to do: " << text;
  }
}

TEST(ValidateCells, CountsUnusedVertices) {
  EXPECT_EQ(validate_cells(make_mesh(corner, {{0, 1, 2, 3}}), "a.msh"), 2);
  EXPECT_EQ(validate_cells(make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 4}, {0, 2, 1, 5}}), "a.msh"), 0);
}

TEST(ValidateCells, RefusesAMeshWithoutCells) { expect_refused(make_mesh(corner, {}), "no tetrahedra"); }

TEST(ValidateCells, RefusesABlockOfAMesh) {
  auto mesh = make_mesh(corner, {{0, 1, 2, 3}});
  mesh.num_cells = 2;
  EXPECT_THROW(validate_cells(mesh, "a.msh"), Error);
  mesh.num_cells = 1;
  mesh.first_vertex = 1;
  EXPECT_THROW(validate_cells(mesh, "a.msh"), Error);
}

TEST(ValidateCells, RefusesVertexNumbersOutOfRange) {
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {0, 1, 2, 6}}), "cell 1 has vertex 6, but vertices are numbered 0");
  expect_refused(make_mesh(corner, {{-1, 1, 2, 3}}), "cell 0 has vertex -1");
  expect_refused(make_mesh(corner, {{0, 1, 2, std::numeric_limits<std::int64_t>::max()}}), "cell 0 has vertex 9223");
}

TEST(ValidateCells, RefusesARepeatedVertex) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      std::array<std::int64_t, 4> cell = {0, 1, 2, 3};
      cell[static_cast<std::size_t>(i)] = cell[static_cast<std::size_t>(j)];
      expect_refused(make_mesh(corner, {{0, 1, 2, 3}, cell}), "cell 1 has vertex " + std::to_string(j) + " twice");
    }
}

TEST(ValidateCells, RefusesCoordinatesThatAreNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto mesh = make_mesh(corner, {{0, 1, 2, 3}});
    mesh.coordinates[3 * 5 + 2] = bad;
    expect_refused(mesh, "vertex 5 has the coordinate ");
  }
}

TEST(ValidateCells, RefusesInvertedCells) {
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {2, 1, 3, 4}}),
                 "cell 1 is inverted (volume -0.3333 m^3; 1 of 2 cells are)");
  expect_refused(make_mesh(corner, {{1, 0, 2, 3}, {2, 1, 3, 4}}), "cell 0 and all others are inverted");
}

TEST(ValidateCells, RefusesFlatCellsAtAnySize) {
  for (const double scale : {1e-100, 1e-6, 1.0, 1e6, 1e100}) {
    for (const double height : {0.0, 1e-15, -1e-15}) {
      auto points = corner;
      points[3] = {0.25, 0.25, height};
      for (auto& point : points)
        for (auto& x : point) x *= scale;
      expect_refused(make_mesh(points, {{0, 1, 2, 3}}), "cell 0 has zero volume");
    }
    auto points = corner;
    points[3] = {0.25, 0.25, 1e-12};  // thin, but the volume exceeds rounding errors
    for (auto& point : points)
      for (auto& x : point) x *= scale;
    EXPECT_EQ(validate_cells(make_mesh(points, {{0, 1, 2, 3}}), "a.msh"), 2);
  }
  expect_refused(make_mesh({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{0, 1, 2, 3}}), "cell 0 has zero volume");
  expect_refused(make_mesh({{-1e308, 0, 0}, {1e308, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}), "edge too long");
}

TEST(ValidateCells, RefusesADuplicateCell) {
  const auto message = "cell 2 has the same vertices as cell 0";
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 4}, {0, 1, 2, 3}}), message);
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 4}, {1, 2, 0, 3}}), message);  // an even permutation
}

TEST(ValidateCells, RefusesAFaceOfThreeCells) {
  auto points = corner;
  points.push_back({0.5, 0.5, 0.5});
  expect_refused(make_mesh(points, {{0, 1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 6}}),
                 "cell 2 has the face of vertices 1, 2, 3, which more than two cells have");
}

TEST(ValidateCells, RefusesCoincidentVerticesOfCells) {
  // Two bodies that touch in a point: vertices 3 and 4 coincide.
  const Points touching = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-0.0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 2}};
  const auto two_bodies = make_mesh(touching, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  expect_refused(two_bodies, "vertex 4 is at the same position as vertex 3 (0, 0, 1)");
  ValidateOptions allow;
  allow.allow_coincident_vertices = true;
  EXPECT_EQ(validate_cells(two_bodies, "a.msh", allow), 0);
  // Accepted if no cell uses one of the two vertices.
  EXPECT_EQ(validate_cells(make_mesh(touching, {{0, 1, 2, 3}}), "a.msh"), 4);
}

TEST(ValidateCells, RefusesRegionEntriesOutOfRange) {
  auto good = make_mesh(corner, {{0, 1, 2, 3}});
  good.regions = {{"a", 3, 1}};
  good.cell_regions = {{0, 0}};
  good.face_regions = {{0, 3, 0}};
  good.vertex_regions = {{5, 0}};
  EXPECT_EQ(validate_cells(good, "a.msh"), 2);
  auto bad = good;
  bad.cell_regions = {{1, 0}};
  expect_refused(bad, "cell 1 of a region");
  bad = good;
  bad.face_regions = {{0, 4, 0}};
  expect_refused(bad, "a face of cell 0");
  bad = good;
  bad.vertex_regions = {{5, 1}};
  expect_refused(bad, "vertex 5 of a region");
}

TEST(ValidateCells, NamesThePlace) {
  ValidateOptions options;
  options.cell_place = [](std::int64_t cell) { return FilePlace{100 + static_cast<long>(cell), "at byte 7"}; };
  options.vertex_location = [](std::int64_t vertex) { return FilePlace{10 + static_cast<long>(vertex), ""}; };
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 3}}), "a.msh:101: cell 1 has vertex 3 twice", options);
  expect_refused(make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 3}}), "(at byte 7)", options);
  auto mesh = make_mesh(corner, {{0, 1, 2, 3}});
  mesh.coordinates[15] = std::nan("");
  expect_refused(mesh, "a.msh:15: vertex 5 has the coordinate", options);
}

/// Returns two straight second-order cells, one on each side of a common face.
MeshData second_order() {
  auto mesh = make_mesh(corner, {{0, 1, 2, 3}, {1, 2, 3, 4}});
  elevate(MPI_COMM_SELF, mesh);
  return mesh;
}

TEST(ValidateCells, TakesSecondOrderCells) {
  auto mesh = second_order();
  EXPECT_EQ(validate_cells(mesh, "a.msh"), 1);
  for (double& x : mesh.coordinates) x *= 1e-100;
  EXPECT_EQ(validate_cells(mesh, "a.msh"), 1);
  for (double& x : mesh.coordinates) x *= 1e200;
  EXPECT_EQ(validate_cells(mesh, "a.msh"), 1);
  mesh.cells.pop_back();
  EXPECT_THROW(validate_cells(mesh, "a.msh"), Error);
}

TEST(ValidateCells, RefusesFoldedCells) {
  const auto mesh = second_order();
  // If the node on an edge is nearer to one end than a quarter of the edge, the cell folds over at this end.
  for (std::size_t node = 4; node < 10; ++node) {
    auto moved = mesh;
    const auto* edge = edge_corners[node - 4];
    const auto middle = static_cast<std::size_t>(mesh.cells[node]);
    for (const double t : {0.3, 0.2}) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto at = [&](int a) {
          return mesh.coordinates[3 * static_cast<std::size_t>(mesh.cells[static_cast<std::size_t>(a)]) + k];
        };
        moved.coordinates[3 * middle + k] = (1 - t) * at(edge[0]) + t * at(edge[1]);
      }
      if (t == 0.3)
        EXPECT_EQ(validate_cells(moved, "a.msh"), 1);
      else
        expect_refused(moved, "cell 0 is curved so far that it folds over");
    }
  }
  auto far = mesh;
  far.coordinates[3 * static_cast<std::size_t>(mesh.cells[4])] = 1e308;
  expect_refused(far, "cell 0 is curved so far that it folds over");
}

TEST(ValidateCells, RefusesExchangedNodesOnEdges) {
  for (std::size_t i = 4; i < 10; ++i)
    for (std::size_t j = 4; j < i; ++j) {
      auto mesh = second_order();
      std::swap(mesh.cells[10 + i], mesh.cells[10 + j]);
      expect_refused(mesh, "cell 1 is curved so far that it folds over");
    }
}

TEST(ValidateCells, RefusesCellsThatDoNotShareTheNodesOfTheirEdges) {
  const auto mesh = second_order();
  // Node 5 of cell 0 and node 4 of cell 1 are the same vertex, on the edge of vertices 1 and 2.
  ASSERT_EQ(mesh.cells[5], mesh.cells[14]);
  auto torn = mesh;
  torn.cells[14] = torn.num_vertices++;
  torn.coordinates.insert(torn.coordinates.end(), {0.5, 0.5, 0.01});
  expect_refused(torn, "cell 1 has vertex " + std::to_string(torn.num_vertices - 1) +
                           " on the edge of vertices 1 and 2, where cell 0 has vertex " +
                           std::to_string(mesh.cells[5]));
  // Two cells whose only common vertex is a node on the edge of vertices 0 and 1 of the first cell.
  auto points = corner;
  points.resize(4);
  points.insert(points.end(), {{0.5, -1, -1}, {0.5, 1, 1}, {-1, 0, 0}, {0.5, 1, -1}});
  auto shared = make_mesh(points, {{0, 1, 2, 3}, {5, 4, 6, 7}});
  elevate(MPI_COMM_SELF, shared);
  EXPECT_EQ(validate_cells(shared, "a.msh", {true, {}, {}}), 0);
  const std::string node = std::to_string(shared.cells[4]);
  shared.cells[14] = shared.cells[4];
  expect_refused(shared, "cell 1 has vertex " + node +
                             " on the edge of vertices 4 and 5, but cell 0 has it on the edge of vertices 0 and 1");
  points[4] = {0.5, 0, 0};
  auto corner_of_other = make_mesh(points, {{0, 1, 2, 3}, {5, 4, 6, 7}});
  elevate(MPI_COMM_SELF, corner_of_other);
  corner_of_other.cells[11] = corner_of_other.cells[4];
  expect_refused(corner_of_other, "on the edge of vertices 0 and 1");
}

}  // namespace
}  // namespace diffsim::validate_test
