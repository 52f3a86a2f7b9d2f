// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Meshes that contain tetrahedra, triangles, segments and points.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "body_meshes.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/bodies.hpp"
#include "mesh/boundary_mesh.hpp"

namespace diffsim::lower_cells_test {
namespace {

using testing_mesh::BodyBox;
using testing_mesh::box_body;
using testing_mesh::grid_of_triangles;
using testing_mesh::whole_on_first_rank;

/// Returns a line of n segments along x at y = 5. The second half is in the region "end".
MeshData rope(int n) {
  MeshData data;
  data.num_vertices = n + 1;
  for (int v = 0; v <= n; ++v) data.coordinates.insert(data.coordinates.end(), {0.1 * v, 5.0, 0.0});
  MeshData::LowerCells& segments = data.lower(CellKind::segment);
  segments.num = n;
  for (int c = 0; c < n; ++c) segments.nodes.insert(segments.nodes.end(), {c, c + 1});
  data.regions.push_back({"end", 1, 4});
  for (int c = n / 2; c < n; ++c) segments.regions.push_back({c, 0});
  return data;
}

MeshData dust(int n) {
  MeshData data;
  data.num_vertices = data.lower(CellKind::point).num = n;
  for (int v = 0; v < n; ++v) {
    data.coordinates.insert(data.coordinates.end(), {0.2 * v, -5.0, 0.01 * v});
    data.lower(CellKind::point).nodes.push_back(v);
  }
  return data;
}

MeshData sheet() { return grid_of_triangles({12, 8}, {1.2, 0.8}, 2.0); }
MeshData patch() { return grid_of_triangles({2, 2}, {0.5, 0.5}, 4.0); }

/// Returns a box, a sheet of 2 · 12 · 8 triangles with the region "left" (x < 0.5), a sheet of 8 triangles, a rope of
/// 30 segments, and 20 points.
MeshData all_kinds(MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"rope", whole_on_first_rank(comm, rope(30))});
  bodies.push_back({"crate", box_body(comm, {"crate", {1.0, 1.0, 1.0}, {3, 4, 2}, {2.0, 0.0, 0.0}})});
  bodies.push_back({"sheet", whole_on_first_rank(comm, sheet())});
  bodies.push_back({"dust", whole_on_first_rank(comm, dust(20))});
  bodies.push_back({"patch", whole_on_first_rank(comm, patch())});
  return join_bodies(comm, std::move(bodies));
}

std::int64_t sum(std::int64_t share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

/// Returns the positions by the file's numbers of vertices, from the joint mesh built on a single rank.
std::vector<double> expected_positions() {
  const MeshData whole = all_kinds(MPI_COMM_SELF);
  return whole.coordinates;
}

TEST(lower_cells, of_several_bodies_follow_each_other) {
  const MeshData joint = all_kinds(MPI_COMM_SELF), first = sheet(), second = patch();
  std::vector<std::int64_t> expected;
  for (const std::int64_t v : first.lower(CellKind::triangle).nodes)
    expected.push_back(joint.bodies[2].first_vertex + v);
  for (const std::int64_t v : second.lower(CellKind::triangle).nodes)
    expected.push_back(joint.bodies[4].first_vertex + v);
  EXPECT_EQ(joint.lower(CellKind::triangle).nodes, expected);
  EXPECT_EQ(joint.bodies[4].first_lower_cell[index_of(CellKind::triangle)], 192);
  EXPECT_EQ(joint.bodies[4].first_vertex, 31 + 60 + 117 + 20);
}

TEST(lower_cells, each_cell_is_on_one_rank_with_its_vertices) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, all_kinds(MPI_COMM_WORLD));
  const MeshData whole = all_kinds(MPI_COMM_SELF);
  EXPECT_EQ(mesh.num_global(CellKind::tetrahedron), 144);
  EXPECT_EQ(mesh.num_global(CellKind::triangle), 200);
  EXPECT_EQ(mesh.num_global(CellKind::segment), 30);
  EXPECT_EQ(mesh.num_global(CellKind::point), 20);
  EXPECT_EQ(mesh.num_unused_vertices(), 0);
  for (const CellKind kind : lower_kinds) {
    const LowerCellSet& set = mesh.lower_cells(kind);
    const auto corners = static_cast<std::size_t>(corners_of(kind));
    ASSERT_EQ(set.vertices.size(), corners * set.entities->local());
    EXPECT_EQ(sum(static_cast<std::int64_t>(set.entities->owned())), whole.lower(kind).num);
    for (std::size_t c = 0; c < set.entities->local(); ++c)
      for (std::size_t a = 0; a < corners; ++a) {
        const auto v = static_cast<std::size_t>(set.vertices[corners * c + a]);
        const auto in_file = static_cast<std::size_t>(set.order->file_index()[c]);
        EXPECT_EQ(mesh.vertex_order().file_index()[v], whole.lower(kind).nodes[corners * in_file + a]);
      }
  }
  const std::vector<double> expected = expected_positions();
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_vertices()); ++v)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(mesh.rest_positions()[3 * v + c],
                expected[3 * static_cast<std::size_t>(mesh.vertex_order().file_index()[v]) + c]);
}

TEST(lower_cells, bodies_and_their_regions) {
  TetrahedralMesh mesh(MPI_COMM_WORLD, all_kinds(MPI_COMM_WORLD));
  ASSERT_EQ(mesh.bodies().size(), 5u);
  EXPECT_EQ(mesh.bodies()[0].kind, CellKind::segment);
  EXPECT_EQ(mesh.bodies()[1].kind, CellKind::tetrahedron);
  EXPECT_EQ(mesh.bodies()[2].kind, CellKind::triangle);
  EXPECT_EQ(mesh.bodies()[3].kind, CellKind::point);
  const auto count = [&](const std::string& region, CellKind kind) {
    const Region& found = mesh.region(region);
    return sum(static_cast<std::int64_t>(kind == CellKind::tetrahedron ? found.cells.size()
                                                                       : found.lower_cells[index_of(kind)].size()));
  };
  EXPECT_EQ(count("all", CellKind::triangle), 200);
  EXPECT_EQ(count("patch/all", CellKind::triangle), 8);
  EXPECT_EQ(count("all", CellKind::point), 20);
  EXPECT_EQ(count("sheet/all", CellKind::triangle), 192);
  EXPECT_EQ(count("sheet/all", CellKind::tetrahedron), 0);
  EXPECT_EQ(count("crate/all", CellKind::tetrahedron), 144);
  EXPECT_EQ(count("rope/end", CellKind::segment), 15);
  EXPECT_EQ(mesh.region("rope/end").num_vertices, 16);
  EXPECT_EQ(mesh.region("dust/all").num_vertices, 20);
  EXPECT_EQ(count("sheet/left", CellKind::triangle), 2 * 5 * 8);
  EXPECT_EQ(mesh.region("sheet/left").num_vertices, 6 * 9);
  mesh.define_region("corner", BoxShape{{-1.0, -1.0, 1.0}, {0.25, 0.25, 3.0}});
  EXPECT_EQ(mesh.region("corner").num_vertices, 9);
  EXPECT_EQ(count("corner", CellKind::triangle), 8);
}

TEST(lower_cells, the_fingerprint_is_that_of_the_file) {
  const std::uint64_t alone = TetrahedralMesh(MPI_COMM_SELF, all_kinds(MPI_COMM_SELF)).fingerprint();
  EXPECT_EQ(TetrahedralMesh(MPI_COMM_WORLD, all_kinds(MPI_COMM_WORLD)).fingerprint(), alone);
  MeshData other = all_kinds(MPI_COMM_SELF);
  std::swap(other.lower(CellKind::triangle).nodes[0], other.lower(CellKind::triangle).nodes[1]);
  EXPECT_NE(TetrahedralMesh(MPI_COMM_SELF, std::move(other)).fingerprint(), alone);
}

TEST(lower_cells, ranks_get_equal_parts_with_short_borders) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"crate", box_body(MPI_COMM_WORLD, {"crate", {1.0, 1.0, 1.0}, {5, 5, 5}, {}})});
  bodies.push_back({"sheet", whole_on_first_rank(MPI_COMM_WORLD, grid_of_triangles({30, 30}, {1.0, 1.0}, 2.0))});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto triangles = static_cast<double>(mesh.lower_cells(CellKind::triangle).entities->local());
  const double cells = mesh.num_cells() + triangles, even = (750.0 + 1800.0) / ranks;
  EXPECT_NEAR(cells, even, 0.1 * even);
  const std::int64_t copies = sum(mesh.num_vertices() - mesh.num_owned_vertices());
  EXPECT_LE(copies, (ranks - 1) * (3 * 36 + 3 * 31));  // three times the vertices of straight cuts through both bodies
  EXPECT_EQ(copies > 0, ranks > 1);
}

TEST(lower_cells, of_a_boundary_point_outwards_and_keep_their_groups) {
  const MeshData box = box_body(MPI_COMM_WORLD, {"crate", {1.0, 2.0, 3.0}, {3, 3, 3}, {}});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, boundary_mesh(MPI_COMM_WORLD, box));
  EXPECT_EQ(mesh.num_global_cells(), 0);
  EXPECT_EQ(mesh.num_global(CellKind::triangle), 6 * 9 * 2);
  EXPECT_EQ(mesh.num_unused_vertices(), 8);
  EXPECT_EQ(sum(static_cast<std::int64_t>(mesh.region("x_min").lower_cells[index_of(CellKind::triangle)].size())), 18);
  EXPECT_EQ(mesh.region("x_min").num_vertices, 16);
  // The enclosed volume, by the divergence theorem.
  double volume = 0.0;
  const std::vector<int>& v = mesh.lower_cells(CellKind::triangle).vertices;
  for (std::size_t i = 0; i < v.size(); i += 3) {
    const double* x[3];
    for (std::size_t k = 0; k < 3; ++k) x[k] = &mesh.rest_positions()[3 * static_cast<std::size_t>(v[i + k])];
    for (std::size_t c = 0; c < 3; ++c)
      volume += x[0][c] * (x[1][(c + 1) % 3] * x[2][(c + 2) % 3] - x[1][(c + 2) % 3] * x[2][(c + 1) % 3]) / 6.0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_NEAR(volume, 6.0, 1e-12);
}

/// Returns `of_cell` vertices of each cell, [cells, of_cell]. Cells and vertices have their numbers in the file.
std::vector<std::int64_t> in_file(const TetrahedralMesh& mesh, CellKind kind, const std::vector<int>& vertices,
                                  std::size_t of_cell) {
  const LowerCellSet& set = mesh.lower_cells(kind);
  std::vector<std::int64_t> numbers(of_cell * static_cast<std::size_t>(mesh.num_global(kind)), -9);
  EXPECT_EQ(vertices.size(), of_cell * set.entities->local());
  for (std::size_t c = 0; c < set.entities->local(); ++c)
    for (std::size_t i = 0; i < of_cell; ++i) {
      const int vertex = vertices[of_cell * c + i];
      numbers[of_cell * static_cast<std::size_t>(set.order->file_index()[c]) + i] =
          vertex < 0 ? vertex : mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)];
    }
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return numbers;
}

/// Returns the vertices across the sides of each cell. Cells and vertices have their numbers in the file.
std::vector<std::int64_t> across_in_file(const TetrahedralMesh& mesh, CellKind kind) {
  return in_file(mesh, kind, mesh.lower_cells(kind).across, static_cast<std::size_t>(corners_of(kind)));
}

TEST(lower_cells, triangles_know_the_vertices_across_their_sides) {
  const int nx = 12, ny = 8;
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, sheet()));
  const std::vector<std::int64_t> across = across_in_file(mesh, CellKind::triangle);
  const auto vertex = [](int i, int j) {
    return i < 0 || j < 0 || i > nx || j > ny ? no_vertex_across : std::int64_t{j} * (nx + 1) + i;
  };
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      // The corners of the square are a, b, c and d; the triangles are (a, b, d) and (a, d, c).
      const std::vector<std::int64_t> expected{vertex(i + 2, j + 1), vertex(i, j + 1), vertex(i, j - 1),
                                               vertex(i + 1, j + 2), vertex(i - 1, j), vertex(i + 1, j)};
      const auto first = across.begin() + std::ptrdiff_t{6} * (j * nx + i);
      EXPECT_EQ(std::vector<std::int64_t>(first, first + 6), expected) << i << ", " << j;
    }
}

TEST(lower_cells, triangles_know_the_vertices_beyond_those_across) {
  const int nx = 12, ny = 8;
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, sheet()));
  const std::vector<std::int64_t> beyond =
      in_file(mesh, CellKind::triangle, mesh.lower_cells(CellKind::triangle).beyond, 6);
  const auto vertex = [](int i, int j) {
    return i < 0 || j < 0 || i > nx || j > ny ? no_vertex_across : std::int64_t{j} * (nx + 1) + i;
  };
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      // Vertices beyond the sides b-d, d-a and a-b of triangle (a, b, d), then beyond d-c, c-a and a-d of triangle (a,
      // d, c).
      std::vector<std::int64_t> expected{vertex(i + 2, j),     vertex(i + 2, j + 2), vertex(i + 1, j + 2),
                                         vertex(i - 1, j),     vertex(i - 1, j - 1), vertex(i + 1, j - 1),
                                         vertex(i + 2, j + 2), vertex(i, j + 2),     vertex(i - 1, j + 1),
                                         vertex(i - 1, j - 1), vertex(i, j - 1),     vertex(i + 2, j + 1)};
      if (i + 1 == nx) expected[0] = expected[1] = no_vertex_across;
      if (j == 0) expected[4] = expected[5] = no_vertex_across;
      if (j + 1 == ny) expected[6] = expected[7] = no_vertex_across;
      if (i == 0) expected[8] = expected[9] = no_vertex_across;
      const auto first = beyond.begin() + std::ptrdiff_t{12} * (j * nx + i);
      EXPECT_EQ(std::vector<std::int64_t>(first, first + 12), expected) << i << ", " << j;
    }
}

TEST(lower_cells, of_which_three_have_a_side_name_no_vertex_across_it) {
  MeshData data;
  data.num_vertices = 5;
  data.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
  data.lower(CellKind::triangle).num = 3;
  data.lower(CellKind::triangle).nodes = {0, 1, 2, 1, 0, 3, 4, 0, 1};
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, std::move(data)));
  const std::int64_t none = no_vertex_across, many = many_vertices_across;
  const std::vector<std::int64_t> expected{none, none, many, none, none, many, many, none, none};
  EXPECT_EQ(across_in_file(mesh, CellKind::triangle), expected);
}

TEST(lower_cells, segments_know_the_vertices_across_their_ends) {
  const int n = 30;
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, rope(n)));
  std::vector<std::int64_t> expected;
  // The side opposite the first corner is at the last corner.
  for (int c = 0; c < n; ++c)
    expected.insert(expected.end(), {c + 1 < n ? c + 2 : no_vertex_across, c > 0 ? c - 1 : no_vertex_across});
  EXPECT_EQ(across_in_file(mesh, CellKind::segment), expected);
}

TEST(lower_cells, of_which_three_have_an_end_name_no_vertex_across_it) {
  MeshData data;
  data.num_vertices = 4;
  data.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  data.lower(CellKind::segment).num = 3;
  data.lower(CellKind::segment).nodes = {0, 1, 2, 0, 0, 3};
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, std::move(data)));
  const std::int64_t none = no_vertex_across, many = many_vertices_across;
  const std::vector<std::int64_t> expected{none, many, many, none, none, many};
  EXPECT_EQ(across_in_file(mesh, CellKind::segment), expected);
}

TEST(lower_cells, a_mesh_without_tetrahedra) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, whole_on_first_rank(MPI_COMM_WORLD, grid_of_triangles({9, 9}, {1, 1}, 0)));
  EXPECT_EQ(mesh.num_global_cells(), 0);
  EXPECT_EQ(mesh.num_global(CellKind::triangle), 162);
  EXPECT_EQ(mesh.region("all").num_vertices, 100);
  EXPECT_TRUE(mesh.boundary().empty());
  const MeshQuality quality = mesh.quality();
  EXPECT_EQ(quality.volume, 0.0);
  EXPECT_NEAR(quality.min_edge, 1.0 / 9.0, 1e-15);
  EXPECT_NEAR(quality.max_edge, std::sqrt(2.0) / 9.0, 1e-15);
}

}  // namespace
}  // namespace diffsim::lower_cells_test
