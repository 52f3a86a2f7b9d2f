// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Meshes from arrays of the first rank, and meshes of cubes, as bodies of a joint mesh.

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "error_text.hpp"

namespace diffsim::array_meshes_test {
namespace {

using Points = std::vector<std::array<double, 3>>;

TEST(array_meshes, of_solids_use_the_arrays_of_the_first_rank) {
  const MeshData box = box_mesh({1.0, 2.0, 0.5}, {3, 2, 2}, 0, 1);
  Points vertices;
  std::vector<std::array<int, 4>> tets;
  if (is_first_rank(MPI_COMM_WORLD)) {
    for (std::size_t i = 0; i < box.coordinates.size(); i += 3)
      vertices.push_back({box.coordinates[i], box.coordinates[i + 1], box.coordinates[i + 2]});
    for (std::size_t i = 0; i < box.cells.size(); i += 4)
      tets.push_back({static_cast<int>(box.cells[i]), static_cast<int>(box.cells[i + 1]),
                      static_cast<int>(box.cells[i + 2]), static_cast<int>(box.cells[i + 3])});
  }
  MeshData data = solid_mesh(MPI_COMM_WORLD, vertices, tets);
  EXPECT_EQ(data.num_vertices, 36);
  EXPECT_EQ(data.num_cells, 72);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  EXPECT_EQ(mesh.fingerprint(), TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {3, 2, 2})->fingerprint());
}

TEST(array_meshes, of_cubes_are_those_of_the_mesh_of_a_cube) {
  const TetrahedralMesh cube(MPI_COMM_WORLD, cube_mesh(MPI_COMM_WORLD, 3, 2.0));
  EXPECT_EQ(cube.fingerprint(), TetrahedralMesh::create_cube(MPI_COMM_WORLD, 3, 2.0)->fingerprint());
  EXPECT_EQ(cube.region("x_min").num_vertices, 16);
}

TEST(array_meshes, of_surfaces_and_segments_are_bodies) {
  constexpr int n = 6;
  Points grid, line;
  std::vector<std::array<int, 3>> triangles;
  std::vector<std::array<int, 2>> segments;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) grid.push_back({0.1 * i, 0.1 * j, 0.0});
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int v = (n + 1) * j + i;
      triangles.push_back({v, v + 1, v + n + 2});
      triangles.push_back({v, v + n + 2, v + n + 1});
    }
  for (int i = 0; i <= 2 * n; ++i) line.push_back({0.1 * i, 0.0, 1.0});
  for (int i = 0; i < 2 * n; ++i) segments.push_back({i, i + 1});
  std::vector<NamedMesh> bodies;
  bodies.push_back({"sheet", surface_mesh(MPI_COMM_WORLD, grid, triangles)});
  bodies.push_back({"rope", segment_mesh(MPI_COMM_WORLD, line, segments)});
  bodies.push_back({"cube", cube_mesh(MPI_COMM_WORLD, 2)});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  EXPECT_EQ(mesh.num_global(CellKind::triangle), 2 * n * n);
  EXPECT_EQ(mesh.num_global(CellKind::segment), 2 * n);
  EXPECT_EQ(mesh.num_global_cells(), 48);
  EXPECT_EQ(mesh.region("sheet/all").num_vertices, (n + 1) * (n + 1));
  EXPECT_EQ(mesh.region("rope/all").num_vertices, 2 * n + 1);
}

TEST(array_meshes, that_are_not_valid_are_refused_on_every_rank) {
  const Points points{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const std::vector<std::array<int, 4>> inverted{{1, 0, 2, 3}};
  const std::vector<std::array<int, 3>> outside{{0, 1, 9}}, none;
  const std::vector<std::array<int, 2>> point{{2, 2}};
  EXPECT_NE(error_of([&] { solid_mesh(MPI_COMM_WORLD, points, inverted); }), "no error");
  EXPECT_NE(error_of([&] { surface_mesh(MPI_COMM_WORLD, points, outside); }), "no error");
  EXPECT_NE(error_of([&] { segment_mesh(MPI_COMM_WORLD, points, point); }), "no error");
  EXPECT_CONTAINS(error_of([&] { surface_mesh(MPI_COMM_WORLD, points, none); }), "the mesh has no triangles");
  EXPECT_CONTAINS(error_of([&] { cube_mesh(MPI_COMM_WORLD, 0); }), "number of cells in x is 0");
}

}  // namespace
}  // namespace diffsim::array_meshes_test
