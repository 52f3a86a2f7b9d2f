// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::tetrahedral_mesh_test {
namespace {

double sum(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Returns a box whose cells are all read by rank 0, as from a Gmsh file.
MeshData box_on_first_rank(std::array<double, 3> size, std::array<int, 3> cells) {
  MeshData data = box_mesh(size, cells, 0, 1);
  if (world_rank() == 0) return data;
  MeshData empty;
  empty.num_vertices = empty.first_vertex = data.num_vertices;
  empty.num_cells = empty.first_cell = data.num_cells;
  empty.regions = data.regions;
  return empty;
}

TEST(tetrahedral_mesh, every_cell_and_vertex_is_owned_once) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3});
  EXPECT_EQ(sum(mesh->num_cells()), 4 * 5 * 3 * 6);
  EXPECT_EQ(sum(mesh->num_owned_vertices()), 5 * 6 * 4);
  EXPECT_EQ(mesh->num_global_cells(), 4 * 5 * 3 * 6);
  std::vector<double> ones(static_cast<std::size_t>(mesh->num_owned_vertices()), 1.0), block;
  mesh->vertex_order().to_file(ones, 1, block);
  for (const double value : block) EXPECT_EQ(value, 1.0);
}

TEST(tetrahedral_mesh, positions_survive_the_way_to_the_file_and_back) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3});
  std::vector<double> owned(mesh->rest_positions().begin(),
                            mesh->rest_positions().begin() + 3 * mesh->num_owned_vertices());
  std::vector<double> block;
  mesh->vertex_order().to_file(owned, 3, block);
  EXPECT_EQ(block, mesh->file_positions());
  EXPECT_EQ(mesh->vertex_order().from_file(block, 3), mesh->rest_positions());
}

TEST(tetrahedral_mesh, the_volume_is_that_of_the_box) {
  for (const auto& mesh :
       {TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3}),
        std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, box_on_first_rank({1.0, 2.0, 0.5}, {4, 5, 3}))}) {
    const MeshQuality quality = mesh->quality();
    EXPECT_NEAR(quality.volume, 1.0, 1e-14);
    EXPECT_GT(quality.min_mean_ratio, 0.1);
    EXPECT_LE(quality.average_mean_ratio, 1.0);
  }
}

TEST(tetrahedral_mesh, the_boundary_is_that_of_the_box_and_points_outwards) {
  for (const auto& mesh :
       {TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3}),
        std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, box_on_first_rank({1.0, 2.0, 0.5}, {4, 5, 3}))}) {
    EXPECT_EQ(sum(static_cast<double>(mesh->boundary().size())), 2 * 2 * (4 * 5 + 5 * 3 + 4 * 3));
    // Divergence theorem: the volume is Σ A n·x/3.
    double volume = 0.0;
    for (const Face& face : mesh->boundary()) {
      double x[3][3];
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t c = 0; c < 3; ++c)
          x[a][c] = mesh->rest_positions()[3 * static_cast<std::size_t>(face.vertices[a]) + c];
      volume += (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) + x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
                 x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
                6.0;
    }
    EXPECT_NEAR(sum(volume), 1.0, 1e-14);
  }
}

TEST(tetrahedral_mesh, regions_do_not_depend_on_the_ranks) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3});
  EXPECT_EQ(mesh->region("x_min").num_vertices, 6 * 4);
  EXPECT_EQ(sum(static_cast<double>(mesh->faces("x_min").size())), 2 * 5 * 3);
  EXPECT_EQ(mesh->region("all").num_vertices, 5 * 6 * 4);
  EXPECT_EQ(mesh->region("all").num_cells, 4 * 5 * 3 * 6);
  mesh->define_region("foot", BoxShape{{-1.0, -0.01, -1.0}, {2.0, 0.41, 1.0}});
  EXPECT_EQ(mesh->region("foot").num_vertices, 5 * 2 * 4);
  EXPECT_EQ(mesh->region("foot").num_cells, 4 * 1 * 3 * 6);
  EXPECT_EQ(sum(static_cast<double>(mesh->faces("foot").size())), 2 * (4 * 3 + 2 * 4 * 1 + 2 * 3 * 1));
  mesh->define_region("corner", SphereShape{{0.0, 0.0, 0.0}, 1e-6});
  EXPECT_EQ(mesh->region("corner").num_vertices, 1);
  mesh->define_region("listed", VertexList{{0, 3, 7}});
  const Region& listed = mesh->region("listed");
  EXPECT_EQ(listed.num_vertices, 3);
  for (const int v : listed.vertices) {
    const auto file = mesh->vertex_order().file_index()[static_cast<std::size_t>(v)];
    EXPECT_TRUE(file == 0 || file == 3 || file == 7);
  }
}

TEST(tetrahedral_mesh, faces_of_two_groups_with_the_same_name_are_listed_once) {
  MeshData data = box_on_first_rank({1.0, 1.0, 1.0}, {3, 2, 2});
  data.regions = {{"side", 2, 1}, {"side", 2, 2}};
  data.face_regions.clear();
  if (world_rank() == 0) data.face_regions = {{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {5, 1, 1}};
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  EXPECT_EQ(sum(static_cast<double>(mesh.faces("side").size())), 3.0);
}

TEST(tetrahedral_mesh, faces_of_many_regions_find_their_cells) {
  // Region r consists of face r mod 4 of cell r.
  constexpr int num_regions = 70;
  MeshData data = box_on_first_rank({1.0, 1.0, 1.0}, {3, 2, 2});
  const std::vector<std::int64_t> cells = box_mesh({1.0, 1.0, 1.0}, {3, 2, 2}, 0, 1).cells;
  data.regions.clear();
  data.face_regions.clear();
  for (int r = 0; r < num_regions; ++r) {
    data.regions.push_back({"face " + std::to_string(r), 2, r});
    if (world_rank() == 0) data.face_regions.push_back({r, r % 4, r});
  }
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  for (int r = 0; r < num_regions; ++r) {
    const std::vector<Face> faces = mesh.faces("face " + std::to_string(r));
    EXPECT_EQ(sum(static_cast<double>(faces.size())), 1.0);
    for (const Face& face : faces) {
      EXPECT_EQ(mesh.cell_order().file_index()[static_cast<std::size_t>(face.cell)], r);
      std::set<std::int64_t> found, wanted;
      for (const int v : face.vertices) found.insert(mesh.vertex_order().file_index()[static_cast<std::size_t>(v)]);
      for (int a = 0; a < 4; ++a)
        if (a != r % 4) wanted.insert(cells[static_cast<std::size_t>(4 * r + a)]);
      EXPECT_EQ(found, wanted);
    }
  }
}

TEST(tetrahedral_mesh, a_region_that_is_not_there_is_told_with_those_that_are) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {1, 1, 1});
  try {
    mesh->region("tip");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("x_min"), std::string::npos);
  }
  EXPECT_THROW(mesh->define_region("x_min", BoxShape{{0, 0, 0}, {1, 1, 1}}), Error);
  EXPECT_THROW(mesh->define_region("nowhere", BoxShape{{5, 5, 5}, {6, 6, 6}}), Error);
  EXPECT_THROW(mesh->define_region("outside", VertexList{{8}}), Error);
}

TEST(tetrahedral_mesh, halo_sums_and_copies) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {3, 3, 3});
  Field field("cells", mesh->vertex_entities(), 3);
  // Number of cells at each vertex, summed over ranks; then the vertex's number in the file.
  std::vector<double> values(field.size(), 0.0);
  for (const int v : mesh->cells()) values[3 * static_cast<std::size_t>(v)] += 1.0;
  field.from_host(values);
  mesh->vertex_exchange().add_to_owners(field);
  EXPECT_EQ(sum(local_sum(field)[0]), 4.0 * 27 * 6);
  values.assign(values.size(), -1.0);
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh->num_owned_vertices()); ++v)
    for (std::size_t c = 0; c < 3; ++c)
      values[3 * v + c] = static_cast<double>(3 * mesh->vertex_order().file_index()[v]) + static_cast<double>(c);
  field.from_host(values);
  mesh->vertex_exchange().copy_to_ghosts(field);
  values = field.to_host();
  for (std::size_t v = 0; v < values.size() / 3; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(values[3 * v + c],
                static_cast<double>(3 * mesh->vertex_order().file_index()[v]) + static_cast<double>(c));
}

TEST(tetrahedral_mesh, cells_at_vertices_of_several_ranks_come_first) {
  for (const int order : {1, 2}) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {4, 4, 3}, order);
    Field field("ranks", mesh->vertex_entities(), 3);
    field.fill(1.0);
    mesh->vertex_exchange().add_to_owners(field);
    mesh->vertex_exchange().copy_to_ghosts(field);
    const std::vector<double> ranks = field.to_host();
    const int nodes = mesh->nodes_per_cell();
    for (int cell = 0; cell < mesh->num_cells(); ++cell) {
      double most = 1.0;
      for (int a = 0; a < nodes; ++a)
        most = std::max(most,
                        ranks[3 * static_cast<std::size_t>(mesh->cells()[static_cast<std::size_t>(nodes * cell + a)])]);
      EXPECT_EQ(most > 1.0, cell < mesh->num_shared_cells()) << cell;
    }
    int end = 0;
    for (int v = 0; v < mesh->num_owned_vertices(); ++v)
      if (ranks[3 * static_cast<std::size_t>(v)] > 1.0) end = v + 1;
    EXPECT_EQ(mesh->shared_vertices_end(), end);
    EXPECT_GE(sum(mesh->num_shared_cells()), world_size() > 1 ? 1.0 : 0.0);
  }
}

TEST(tetrahedral_mesh, halves_of_an_exchange_leave_what_is_not_shared) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {4, 4, 3});
  const auto local = static_cast<std::size_t>(mesh->num_vertices());
  Field at_once("at once", mesh->vertex_entities(), 3);
  std::vector<double> values(at_once.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 + static_cast<double>(i % 17);
  at_once.from_host(values);
  Field halved = at_once.clone();
  mesh->vertex_exchange().add_to_owners(at_once);
  mesh->vertex_exchange().begin_add_to_owners(halved);
  // Vertices of cells without shared vertices may change while the sums are in transit.
  std::vector<char> is_shared(local, 0);
  for (std::size_t i = 0; i < 4 * static_cast<std::size_t>(mesh->num_shared_cells()); ++i)
    is_shared[static_cast<std::size_t>(mesh->cells()[i])] = 1;
  std::vector<double> meanwhile = halved.to_host(), expected = at_once.to_host();
  for (std::size_t v = 0; v < local; ++v)
    if (!is_shared[v])
      for (std::size_t c = 0; c < 3; ++c) {
        meanwhile[3 * v + c] += 100.0;
        expected[3 * v + c] += 100.0;
      }
  halved.from_host(meanwhile);
  mesh->vertex_exchange().end_add_to_owners(halved);
  EXPECT_EQ(halved.to_host(), expected);
}

TEST(tetrahedral_mesh, fingerprint_depends_on_the_mesh_and_not_on_who_reads_it) {
  const auto spread = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {3, 3, 3});
  const TetrahedralMesh whole(MPI_COMM_SELF, box_mesh({1.0, 1.0, 1.0}, {3, 3, 3}, 0, 1));
  const TetrahedralMesh other(MPI_COMM_SELF, box_mesh({1.0, 1.0, 1.001}, {3, 3, 3}, 0, 1));
  EXPECT_EQ(spread->fingerprint(), whole.fingerprint());
  EXPECT_NE(spread->fingerprint(), other.fingerprint());
}

TEST(tetrahedral_mesh, fewer_cells_than_ranks) {
  // Ranks without cells take part in all collective calls.
  MeshData data;
  data.num_vertices = 4;
  data.num_cells = 1;
  if (world_rank() == 0) {
    data.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    data.cells = {0, 1, 2, 3};
  } else {
    data.first_vertex = 4;
    data.first_cell = 1;
  }
  const TetrahedralMesh mesh(MPI_COMM_WORLD, data);
  EXPECT_EQ(sum(mesh.num_cells()), 1);
  EXPECT_EQ(sum(static_cast<double>(mesh.boundary().size())), 4);
  EXPECT_NEAR(mesh.quality().volume, 1.0 / 6.0, 1e-15);
  EXPECT_EQ(mesh.region("all").num_vertices, 4);
}

// Second-order meshes.

/// Returns the box [0, 1] × [0, 2] × [0, 0.5] as a second-order mesh, made by `box` and from a mesh that one rank has
/// read.
std::vector<std::shared_ptr<TetrahedralMesh>> quadratic_boxes() {
  MeshData read = box_on_first_rank({1.0, 2.0, 0.5}, {4, 5, 3});
  elevate(MPI_COMM_WORLD, read);
  return {TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3}, 2),
          std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, read)};
}

// Numbers of cells and of nodes. V + E = (2 nx + 1)(2 ny + 1)(2 nz + 1): each point of the grid of half the width is
// either a vertex or the midpoint of one edge.
constexpr std::int64_t box_cells = 4 * 5 * 3 * 6, box_nodes = 9 * 11 * 7;

TEST(tetrahedral_mesh, second_order_vertices_are_owned_once) {
  for (const auto& mesh : quadratic_boxes()) {
    EXPECT_EQ(mesh->order(), 2);
    EXPECT_EQ(mesh->nodes_per_cell(), 10);
    EXPECT_EQ(mesh->cells().size(), 10 * static_cast<std::size_t>(mesh->num_cells()));
    EXPECT_EQ(sum(mesh->num_cells()), box_cells);
    EXPECT_EQ(mesh->num_global_vertices(), box_nodes);
    EXPECT_EQ(sum(mesh->num_owned_vertices()), box_nodes);
    std::vector<double> ones(static_cast<std::size_t>(mesh->num_owned_vertices()), 1.0), block;
    mesh->vertex_order().to_file(ones, 1, block);
    for (const double value : block) EXPECT_EQ(value, 1.0);
    // Every vertex of this rank belongs to one of this rank's cells.
    std::vector<int> used(mesh->cells().begin(), mesh->cells().end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    EXPECT_EQ(used.size(), static_cast<std::size_t>(mesh->num_vertices()));
  }
}

TEST(tetrahedral_mesh, second_order_nodes_are_in_the_middle_of_their_edges) {
  for (const auto& mesh : quadratic_boxes()) {
    constexpr std::size_t ends[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    const auto x = [&](std::size_t cell, std::size_t node, std::size_t c) {
      return mesh->rest_positions()[3 * static_cast<std::size_t>(mesh->cells()[10 * cell + node]) + c];
    };
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh->num_cells()); ++cell)
      for (std::size_t e = 0; e < 6; ++e)
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_EQ(x(cell, 4 + e, c), 0.5 * (x(cell, ends[e][0], c) + x(cell, ends[e][1], c)));
    EXPECT_NEAR(mesh->quality().volume, 1.0, 1e-14);
    EXPECT_EQ(mesh->quality().min_mean_ratio,
              TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 2.0, 0.5}, {4, 5, 3})->quality().min_mean_ratio);
  }
}

TEST(tetrahedral_mesh, second_order_faces_have_six_nodes) {
  for (const auto& mesh : quadratic_boxes()) {
    EXPECT_EQ(sum(static_cast<double>(mesh->boundary().size())), 2 * 2 * (4 * 5 + 5 * 3 + 4 * 3));
    // The area ∫ |∂x/∂ξ × ∂x/∂η| by the quadrature of second degree at the midpoints of the edges; by the divergence
    // theorem, the volume is Σ ∫ n·x/3.
    double area = 0.0, volume = 0.0;
    for (const Face& face : mesh->boundary()) {
      ASSERT_EQ(face.num_nodes(), 6);
      double x[6][3];
      for (int i = 0; i < 6; ++i)
        for (std::size_t c = 0; c < 3; ++c)
          x[i][c] = mesh->rest_positions()[3 * static_cast<std::size_t>(face.node(i)) + c];
      for (int m = 0; m < 3; ++m) {
        // ∂N/∂ξ and ∂N/∂η at node 3 + m, for the order of nodes in element.hpp and λ = (1 - ξ - η, ξ, η).
        double lambda[3] = {0.5, 0.5, 0.5};
        lambda[(m + 2) % 3] = 0.0;
        const double by_xi[6] = {1 - 4 * lambda[0],           4 * lambda[1] - 1, 0,
                                 4 * (lambda[0] - lambda[1]), 4 * lambda[2],     -4 * lambda[2]};
        const double by_eta[6] = {1 - 4 * lambda[0],          0, 4 * lambda[2] - 1, -4 * lambda[1], 4 * lambda[1],
                                  4 * (lambda[0] - lambda[2])};
        double t[2][3] = {};
        for (int i = 0; i < 6; ++i)
          for (int c = 0; c < 3; ++c) {
            t[0][c] += by_xi[i] * x[i][c];
            t[1][c] += by_eta[i] * x[i][c];
          }
        const double n[3] = {t[0][1] * t[1][2] - t[0][2] * t[1][1], t[0][2] * t[1][0] - t[0][0] * t[1][2],
                             t[0][0] * t[1][1] - t[0][1] * t[1][0]};
        area += std::hypot(n[0], n[1], n[2]) / 6.0;
        volume += (n[0] * x[3 + m][0] + n[1] * x[3 + m][1] + n[2] * x[3 + m][2]) / 18.0;
      }
    }
    EXPECT_NEAR(sum(area), 2.0 * (1.0 * 2.0 + 2.0 * 0.5 + 0.5 * 1.0), 1e-13);
    EXPECT_NEAR(sum(volume), 1.0, 1e-13);
  }
}

TEST(tetrahedral_mesh, regions_have_the_nodes_on_edges) {
  for (const auto& mesh : quadratic_boxes()) {
    EXPECT_EQ(mesh->region("x_min").num_vertices, 11 * 7);
    EXPECT_EQ(sum(static_cast<double>(mesh->faces("x_min").size())), 2 * 5 * 3);
    EXPECT_EQ(mesh->region("all").num_vertices, box_nodes);
    EXPECT_EQ(mesh->region("all").num_cells, box_cells);
    mesh->define_region("foot", BoxShape{{-1.0, -0.01, -1.0}, {2.0, 0.41, 1.0}});
    EXPECT_EQ(mesh->region("foot").num_vertices, 9 * 3 * 7);
    EXPECT_EQ(mesh->region("foot").num_cells, 4 * 1 * 3 * 6);
    EXPECT_EQ(sum(static_cast<double>(mesh->faces("foot").size())), 2 * (4 * 3 + 2 * 4 * 1 + 2 * 3 * 1));
    // A region that contains the corners of a cell, but not the nodes on its edges, does not contain the cell.
    mesh->define_region("half", BoxShape{{-1.0, -0.01, -1.0}, {2.0, 0.21, 1.0}});
    EXPECT_EQ(mesh->region("half").num_vertices, 9 * 2 * 7);
    EXPECT_EQ(mesh->region("half").num_cells, 0);
    mesh->define_region("corners", VertexList{{0, 1, 6, 36}});  // corners of one cell
    EXPECT_EQ(mesh->region("corners").num_vertices, 4);
    EXPECT_EQ(mesh->region("corners").num_cells, 0);
    EXPECT_EQ(sum(static_cast<double>(mesh->faces("corners").size())), 0);
  }
}

TEST(tetrahedral_mesh, second_order_halo_sums_and_copies) {
  for (const auto& mesh : quadratic_boxes()) {
    Field field("cells", mesh->vertex_entities(), 3);
    std::vector<double> values(field.size(), 0.0);
    for (const int v : mesh->cells()) values[3 * static_cast<std::size_t>(v)] += 1.0;
    field.from_host(values);
    mesh->vertex_exchange().add_to_owners(field);
    EXPECT_EQ(sum(local_sum(field)[0]), 10.0 * box_cells);
    values.assign(values.size(), -1.0);
    const auto number = [&](std::size_t v) { return static_cast<double>(mesh->vertex_order().file_index()[v]); };
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(mesh->num_owned_vertices()); ++i)
      values[i] = 3 * number(i / 3) + static_cast<double>(i % 3);
    field.from_host(values);
    mesh->vertex_exchange().copy_to_ghosts(field);
    values = field.to_host();
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], 3 * number(i / 3) + static_cast<double>(i % 3));
  }
}

TEST(tetrahedral_mesh, second_order_fingerprint_depends_on_the_nodes_on_edges) {
  const auto boxes = quadratic_boxes();
  EXPECT_EQ(boxes[0]->fingerprint(), boxes[1]->fingerprint());
  MeshData whole = box_mesh({1.0, 2.0, 0.5}, {4, 5, 3}, 0, 1);
  EXPECT_NE(boxes[0]->fingerprint(), TetrahedralMesh(MPI_COMM_SELF, whole).fingerprint());
  elevate(MPI_COMM_SELF, whole);
  EXPECT_EQ(boxes[0]->fingerprint(), TetrahedralMesh(MPI_COMM_SELF, whole).fingerprint());
  whole.coordinates.back() += 1e-9;
  EXPECT_NE(boxes[0]->fingerprint(), TetrahedralMesh(MPI_COMM_SELF, whole).fingerprint());
  EXPECT_THROW(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {1, 1, 1}, 3), InputError);
}

TEST(tetrahedral_mesh, has_a_quadrature_of_a_degree) {
  const auto box = [](int order, std::optional<int> degree) {
    return TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {1, 1, 1}, order, degree)->quadrature_degree();
  };
  EXPECT_EQ(box(1, {}), 1);
  EXPECT_EQ(box(2, {}), 2);
  EXPECT_EQ(box(2, 2), 2);
  EXPECT_EQ(box(2, 5), 5);
  for (const int degree : {-1, 0, 1, 3, 4, 6}) EXPECT_THROW(box(2, degree), InputError) << degree;
  for (const int degree : {1, 2, 5}) EXPECT_THROW(box(1, degree), InputError) << degree;
}

TEST(tetrahedral_mesh, the_volume_of_curved_cells_is_exact) {
  MeshData data = box_on_first_rank({1.0, 2.0, 0.5}, {4, 5, 3});
  const std::int64_t corners = data.num_vertices;
  elevate(MPI_COMM_WORLD, data);
  // The nodes on the edges of the upper side are lifted. Each of the three nodes of a face contributes a third of the
  // face's area, ∫ 4 λ_a λ_b = A/3.
  for (std::int64_t v = 0; v < data.block_vertices(); ++v) {
    double& z = data.coordinates[3 * static_cast<std::size_t>(v) + 2];
    if (data.first_vertex + v >= corners && z == 0.5) z += 0.01;
  }
  const TetrahedralMesh mesh(MPI_COMM_WORLD, data);
  EXPECT_NEAR(mesh.quality().volume, 1.0 + 0.01 * 1.0 * 2.0, 1e-14);
}

TEST(tetrahedral_mesh, fewer_second_order_cells_than_ranks) {
  MeshData data = box_mesh({1.0, 1.0, 1.0}, {1, 1, 1}, 0, 1);
  data.regions.clear();
  data.face_regions.clear();
  data.cells.resize(4);
  data.num_cells = 1;
  data.num_unused_vertices = 4;
  if (world_rank() > 0) {
    data = {};
    data.num_vertices = data.first_vertex = 8;
    data.num_cells = data.first_cell = 1;
    data.num_unused_vertices = 4;
  }
  elevate(MPI_COMM_WORLD, data);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, data);
  EXPECT_EQ(sum(mesh.num_cells()), 1);
  EXPECT_EQ(mesh.num_global_vertices(), 14);
  EXPECT_EQ(sum(mesh.num_owned_vertices()), 10);
  EXPECT_EQ(sum(static_cast<double>(mesh.boundary().size())), 4);
  EXPECT_NEAR(mesh.quality().volume, 1.0 / 6.0, 1e-15);
}

}  // namespace
}  // namespace diffsim::tetrahedral_mesh_test
