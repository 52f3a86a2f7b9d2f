// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/construction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "body_meshes.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "error_text.hpp"
#include "mesh/bodies.hpp"
#include "mesh/dual_graph.hpp"
#include "mesh/partition.hpp"

namespace diffsim::join_bodies_test {
namespace {

using testing_mesh::BodyBox;
using testing_mesh::box_body;
using testing_mesh::grid_of_triangles;
using testing_mesh::mesh_of_boxes;
using testing_mesh::whole_on_first_rank;

const BodyBox crate{"crate", {0.5, 0.5, 0.5}, {2, 3, 2}, {0.0, 2.0, 0.0}};
const BodyBox slab{"slab", {3.0, 0.5, 1.0}, {4, 1, 2}, {-1.0, 0.0, 0.0}};

double sum(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

/// Returns the positions of all vertices, by their numbers in the file, on every rank.
std::vector<double> all_positions(const TetrahedralMesh& mesh) {
  std::vector<double> all(3 * static_cast<std::size_t>(mesh.num_global_vertices()), 0.0);
  const std::vector<double> block = mesh.file_positions();
  std::copy(block.begin(), block.end(), all.begin() + 3 * mesh.vertex_order().block_begin());
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

class JoinBodies : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, JoinBodies, ::testing::Values(1, 2));

TEST_P(JoinBodies, KeepsTheOrderOfEachBody) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, mesh_of_boxes(MPI_COMM_WORLD, {crate, slab}, GetParam()));
  const std::vector<double> joint = all_positions(mesh);
  std::size_t vertex = 0;
  for (const BodyBox& box : {crate, slab}) {
    const auto alone = TetrahedralMesh::box(MPI_COMM_WORLD, box.size, box.cells, GetParam());
    const std::vector<double> own = all_positions(*alone);
    for (std::size_t i = 0; i < own.size(); ++i)
      ASSERT_EQ(joint.at(3 * vertex + i), own[i] + box.corner[i % 3]) << box.name << ", entry " << i;
    vertex += own.size() / 3;
  }
  EXPECT_EQ(joint.size(), 3 * vertex);
  ASSERT_EQ(mesh.bodies().size(), 2u);
  const std::int64_t vertices = GetParam() == 1 ? 36 : 5 * 7 * 5;
  EXPECT_EQ(mesh.bodies()[1].first_vertex, vertices);
  EXPECT_EQ(mesh.bodies()[1].first_cell, 72);
  EXPECT_NEAR(mesh.quality().volume, 0.125 + 1.5, 1e-13);
  // All vertices of a cell belong to the cell's body.
  for (int c = 0; c < mesh.num_cells(); ++c) {
    const int body = body_of_cell(mesh.bodies(), mesh.cell_order().file_index()[static_cast<std::size_t>(c)]);
    for (int a = 0; a < mesh.nodes_per_cell(); ++a) {
      const int v = mesh.cells()[static_cast<std::size_t>(mesh.nodes_per_cell() * c + a)];
      EXPECT_EQ(body_of_vertex(mesh.bodies(), mesh.vertex_order().file_index()[static_cast<std::size_t>(v)]), body);
    }
  }
}

TEST_P(JoinBodies, KeepsTheRegionsOfEachBody) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, mesh_of_boxes(MPI_COMM_WORLD, {crate, slab}, GetParam()));
  for (const BodyBox& box : {crate, slab}) {
    const auto alone = TetrahedralMesh::box(MPI_COMM_WORLD, box.size, box.cells, GetParam());
    for (const char* side : {"x_min", "y_max", "z_max", "all"}) {
      const std::string name = box.name + "/" + side;
      EXPECT_EQ(mesh.region(name).num_vertices, alone->region(side).num_vertices) << name;
      EXPECT_EQ(mesh.region(name).num_cells, alone->region(side).num_cells) << name;
      EXPECT_EQ(sum(static_cast<double>(mesh.faces(name).size())), sum(static_cast<double>(alone->faces(side).size())));
      for (const int v : mesh.region(name).vertices) {
        const double* const x = &mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
        if (side == std::string("x_min")) {
          EXPECT_EQ(x[0], box.corner[0]);
        } else if (side == std::string("y_max")) {
          EXPECT_NEAR(x[1], box.corner[1] + box.size[1], 1e-15);
        }
      }
    }
  }
  // A region can be named by its tag in the file; the tag of y_min is 3.
  EXPECT_EQ(mesh.region("slab/3").num_vertices, mesh.region("slab/y_min").num_vertices);
  EXPECT_FALSE(mesh.has_region("3"));
  EXPECT_FALSE(mesh.has_region("x_min"));
  EXPECT_EQ(mesh.region("all").num_cells, mesh.num_global_cells());
}

TEST(JoinBodies, KeepsRegionsOfVerticesAndOfCells) {
  std::vector<NamedMesh> bodies;
  for (const char* name : {"a", "b"}) {
    MeshData data = box_mesh({1, 1, 1}, {2, 2, 2}, rank_of(MPI_COMM_WORLD), num_ranks(MPI_COMM_WORLD));
    const auto region = static_cast<std::int32_t>(data.regions.size());
    data.regions.push_back({"points", 0, 7});
    data.regions.push_back({"half", 3, 8});
    // Vertices 0 and 20, cells 0 to 23.
    for (const std::int64_t vertex : {0, 20})
      if (vertex >= data.first_vertex && vertex < data.first_vertex + data.block_vertices())
        data.vertex_regions.push_back({vertex, region});
    for (std::int64_t cell = data.first_cell; cell < std::min<std::int64_t>(data.first_cell + data.block_cells(), 24);
         ++cell)
      data.cell_regions.push_back({cell, region + 1});
    bodies.push_back({name, std::move(data)});
  }
  const TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  EXPECT_EQ(mesh.region("b/points").num_vertices, 2);
  for (const int v : mesh.region("b/points").vertices) {
    const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(v)];
    EXPECT_TRUE(number == 27 || number == 27 + 20) << number;
  }
  EXPECT_EQ(mesh.region("b/half").num_cells, 24);
  for (const int c : mesh.region("b/half").cells) {
    const std::int64_t number = mesh.cell_order().file_index()[static_cast<std::size_t>(c)];
    EXPECT_TRUE(number >= 48 && number < 72) << number;
  }
}

TEST(JoinBodies, DefinesRegionsWithinABody) {
  TetrahedralMesh mesh(MPI_COMM_WORLD, mesh_of_boxes(MPI_COMM_WORLD, {crate, slab}));
  const BoxShape everywhere{{-9.0, -9.0, -9.0}, {9.0, 9.0, 9.0}};
  mesh.define_region("of crate", everywhere, "crate");
  EXPECT_EQ(mesh.region("of crate").num_vertices, 36);
  EXPECT_EQ(mesh.region("of crate").num_cells, 72);
  mesh.define_region("corner", VertexList{{0}}, "slab");
  ASSERT_EQ(mesh.region("corner").num_vertices, 1);
  for (const int v : mesh.region("corner").vertices)
    EXPECT_EQ(mesh.rest_positions()[3 * static_cast<std::size_t>(v)], -1.0);
  EXPECT_CONTAINS(error_of([&] { mesh.define_region("r", VertexList{{36}}, "crate"); }),
                  "vertex 36 is not one of crate's 0 … 35");
  EXPECT_CONTAINS(error_of([&] { mesh.define_region("r", everywhere, "crates"); }),
                  "unknown body 'crates'; did you mean 'crate'?");
  EXPECT_CONTAINS(error_of([&] {
                    mesh.define_region("r", BoxShape{{0, 2, 0}, {9, 9, 9}}, "slab");
                  }),
                  "has no vertex of 'slab' in it");
}

TEST(JoinBodies, NamesTheNearestRegion) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, mesh_of_boxes(MPI_COMM_WORLD, {crate, slab}));
  EXPECT_CONTAINS(error_of([&] { mesh.region("slab/y_mn"); }),
                  "unknown region 'slab/y_mn'; did you mean 'slab/y_min'?");
  EXPECT_CONTAINS(error_of([&] { mesh.region("crtae/all"); }), "did you mean 'crate/all'?");
  EXPECT_EQ(vertex_name(mesh.bodies(), 40), "4 of slab");
  EXPECT_EQ(cell_name(mesh.bodies(), 71), "71 of crate");
}

TEST(JoinBodies, RefusesBadNamesAndMixedOrders) {
  const auto refused = [&](const std::vector<BodyBox>& boxes) {
    return error_of([&] { mesh_of_boxes(MPI_COMM_WORLD, boxes); });
  };
  EXPECT_CONTAINS(refused({crate, crate}), "two bodies are called 'crate'");
  for (const char* name : {"", "all", "a/b", "a|b", "a:b"}) {
    BodyBox box = crate;
    box.name = name;
    EXPECT_CONTAINS(refused({slab, box}), "a body cannot be called '" + box.name + "'");
  }
  EXPECT_CONTAINS(refused({}), "there is no body");
  MeshData linear = mesh_of_boxes(MPI_COMM_WORLD, {crate}), quadratic = mesh_of_boxes(MPI_COMM_WORLD, {slab}, 2);
  EXPECT_CONTAINS(error_of([&] {
                    join_bodies(MPI_COMM_WORLD, {{"a", linear}, {"b", quadratic}});
                  }),
                  "'a' and 'b' have cells of orders 1 and 2");
  EXPECT_CONTAINS(error_of([&] {
                    MeshData joint = mesh_of_boxes(MPI_COMM_WORLD, {crate, slab});
                    elevate(MPI_COMM_WORLD, joint);
                  }),
                  "elevate the bodies first");
}

TEST(JoinBodies, BalancesBodiesOfVeryDifferentSizes) {
  // Bodies of 6000 and 60 cells.
  const BodyBox large{"large", {1.0, 1.0, 1.0}, {10, 10, 10}}, small{"small", {0.1, 0.1, 0.1}, {5, 2, 1}, {0, 1.2, 0}};
  const TetrahedralMesh mesh(MPI_COMM_WORLD, mesh_of_boxes(MPI_COMM_WORLD, {small, large}));
  const double even = static_cast<double>(mesh.num_global_cells()) / num_ranks(MPI_COMM_WORLD);
  EXPECT_EQ(mesh.num_global_cells(), 6060);
  EXPECT_NEAR(mesh.num_cells() / even, 1.0, 0.1);
}

/// Work of this rank's part of a mesh over an even share.
double part_of_work(const MeshData& data, std::int64_t by_one = cells_of_one_rank) {
  const CellParts parts = partition_cells(MPI_COMM_WORLD, data, by_one);
  const auto work_of = [&](const MeshData& whole, const CellParts& of) {
    const DualGraph graph = dual_graph(MPI_COMM_SELF, {whole.cells.begin(), whole.cells.end()}, whole.num_vertices);
    double sum = 0.0;
    const auto add = [&](CellKind kind, std::int64_t cell, std::int64_t faces) {
      const CellWork& work = whole.bodies[static_cast<std::size_t>(body_of_cell(whole.bodies, cell, kind))].work;
      sum += work.cell + work.face * static_cast<double>(faces);
    };
    for (const std::int64_t cell : of.cells) {
      const auto c = static_cast<std::size_t>(cell);
      add(CellKind::tetrahedron, cell, 4 - (graph.begin[c + 1] - graph.begin[c]));
    }
    for (const CellKind kind : lower_kinds)
      for (const std::int64_t cell : of.lower_cells[index_of(kind)]) add(kind, cell, 1);
    return sum;
  };
  // The tetrahedra of all ranks, in the order of the file.
  MeshData whole = data;
  std::vector<int> counts(static_cast<std::size_t>(num_ranks(MPI_COMM_WORLD))), begins(counts.size(), 0);
  const int mine = static_cast<int>(data.cells.size());
  MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < begins.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  whole.cells.resize(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Allgatherv(data.cells.data(), mine, MPI_INT64_T, whole.cells.data(), counts.data(), begins.data(), MPI_INT64_T,
                 MPI_COMM_WORLD);
  double work = work_of(whole, parts), total = 0.0;
  MPI_Allreduce(&work, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return work * num_ranks(MPI_COMM_WORLD) / total;
}

TEST(JoinBodies, BalancesTheWorkOfCellsAndOfContact) {
  // A thin plate, whose faces are nearly all on the surface, a thick block of as many cells, a small body, and cloth.
  const BodyBox plate{"plate", {1.0, 1.0, 0.02}, {20, 20, 1}}, block{"block", {0.5, 0.5, 0.5}, {8, 7, 7}, {0, 0, 1}},
      small{"small", {0.1, 0.1, 0.1}, {2, 1, 1}, {0, 3, 0}};
  MeshData solids = mesh_of_boxes(MPI_COMM_WORLD, {plate, block, small});
  for (MeshBody& body : solids.bodies) body.work.face = 10.0;
  EXPECT_NEAR(part_of_work(solids), 1.0, 0.1);
  EXPECT_NEAR(part_of_work(solids, 0), 1.0, 0.1);  // all ranks partition together
  std::vector<NamedMesh> bodies;
  bodies.push_back({"block", box_body(MPI_COMM_WORLD, block)});
  bodies.push_back({"cloth", whole_on_first_rank(MPI_COMM_WORLD, grid_of_triangles({12, 10}, {1.0, 1.0}, 2.0))});
  bodies.back().data.work = {20.0, 10.0};
  EXPECT_NEAR(part_of_work(join_bodies(MPI_COMM_WORLD, std::move(bodies))), 1.0, 0.1);
}

TEST(Placement, ScalesThenRotatesThenTranslates) {
  MeshData data = box_mesh({1.0, 2.0, 3.0}, {1, 1, 1}, 0, 1);
  Placement placement;
  placement.scale = {2.0, 1.0, 0.5};
  placement.axis = {0.0, 0.0, 4.0};
  placement.angle = std::acos(0.0);  // a right angle maps (x, y, z) to (-y, x, z)
  placement.translate = {10.0, 20.0, 30.0};
  place(data, placement);
  // The highest corner, (1, 2, 3), is the last vertex.
  EXPECT_NEAR(data.coordinates[21], 10.0 - 2.0, 1e-14);
  EXPECT_NEAR(data.coordinates[22], 20.0 + 2.0, 1e-14);
  EXPECT_NEAR(data.coordinates[23], 30.0 + 1.5, 1e-14);
  placement.scale[1] = -1.0;
  EXPECT_CONTAINS(error_of([&] { place(data, placement); }), "would mirror the body");
  placement.scale[1] = 0.0;
  EXPECT_CONTAINS(error_of([&] { place(data, placement); }), "is not a valid scale");
  placement.scale[1] = 1.0;
  placement.axis = {};
  EXPECT_CONTAINS(error_of([&] { place(data, placement); }), "an axis that is not zero");
}

}  // namespace
}  // namespace diffsim::join_bodies_test
