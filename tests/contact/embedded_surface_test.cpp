// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/embedded_surface.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/bodies.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::embedded_surface_test {
namespace {

using Place = std::array<double, 3>;
using Function = std::function<Place(const Place&)>;

/// Returns a box of linear or second-order cells between `low` and `low` + `size`, distributed in blocks over the
/// ranks.
MeshData box(const Place& low, const Place& size, const std::array<int, 3>& cells, int order) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MeshData data = box_mesh(size, cells, rank, ranks);
  if (order == 2) elevate(MPI_COMM_WORLD, data);
  place(data, {.translate = low});
  return data;
}

/// Makes three bodies in a row along x, each 1 m long, with gaps of 0.2 m. The middle body has a different mesh.
std::shared_ptr<TetrahedralMesh> row(int order) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"left", box({0.0, 0.0, 0.0}, {1.0, 0.5, 0.5}, {2, 1, 1}, order)});
  bodies.push_back({"middle", box({1.2, 0.0, 0.0}, {1.0, 0.5, 0.5}, {3, 2, 1}, order)});
  bodies.push_back({"right", box({2.4, 0.0, 0.0}, {1.0, 0.5, 0.5}, {2, 1, 2}, order)});
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
}

/// Returns an octahedron inside the middle body, or partly outside. The vertices lie on faces of cells, in cells and
/// outside all cells.
BodySurface octahedron(double half_length) {
  BodySurface surface{"middle", {}};
  const Place c{1.7, 0.25, 0.25};
  surface.mesh.vertices = {{c[0] + half_length, c[1], c[2]}, {c[0] - half_length, c[1], c[2]},
                           {c[0], c[1] + 0.21, c[2]},        {c[0], c[1] - 0.21, c[2]},
                           {c[0], c[1], c[2] + 0.17},        {c[0], c[1], c[2] - 0.17}};
  surface.mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  return surface;
}

/// Returns the largest difference, over the points of the surface, between a function and the interpolation of its
/// nodal values.
double largest_error(const TetrahedralMesh& mesh, const EmbeddedSurface& surface, const Function& f) {
  const auto values = [&](const TetrahedralMesh& of) {
    std::vector<double> result;
    for (std::size_t v = 0; v < static_cast<std::size_t>(of.num_vertices()); ++v) {
      const double* const x = &of.rest_positions()[3 * v];
      const Place value = f({x[0], x[1], x[2]});
      result.insert(result.end(), value.begin(), value.end());
    }
    return result;
  };
  Field nodes("nodes", mesh.vertex_entities(), 3), points("points", surface.map->points(), 3);
  nodes.from_host(values(mesh));
  surface.map->apply(nodes, points);
  const std::vector<double> found = points.to_host(), expected = values(*surface.mesh);
  double largest = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) largest = std::max(largest, std::abs(found[i] - expected[i]));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

const Function identity = [](const Place& x) { return x; };
const Function affine = [](const Place& x) {
  return Place{0.3 + x[0] - 2.0 * x[1] + 0.5 * x[2], 1.5 * x[2] - x[0], 0.7 * x[1]};
};
const Function quadratic = [](const Place& x) {
  return Place{x[0] * x[1] - x[2] * x[2], 0.3 * x[0] * x[0] + x[1], x[1] * x[2] - 2.0 * x[0] * x[2]};
};

TEST(embedded_surface, follows_what_shape_functions_follow) {
  for (const double half_length : {0.4, 0.55}) {  // inside, and 5 cm outside
    const auto linear = row(1), second = row(2);
    const EmbeddedSurface of_linear = embed_surfaces(*linear, {octahedron(half_length)}),
                          of_second = embed_surfaces(*second, {octahedron(half_length)});
    EXPECT_LE(largest_error(*linear, of_linear, identity), 1e-14);
    EXPECT_LE(largest_error(*linear, of_linear, affine), 1e-14);
    EXPECT_GE(largest_error(*linear, of_linear, quadratic), 1e-3);
    EXPECT_LE(largest_error(*second, of_second, quadratic), 1e-13);
  }
}

/// Returns the least weight of any node in the stencils of all points.
double least_weight(const EmbeddedSurface& surface) {
  double least = 1.0;
  for (const PointStencil& point : surface.map->stencils())
    for (std::size_t k = 0; k < static_cast<std::size_t>(point.count); ++k) least = std::min(least, point.weights[k]);
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return least;
}

TEST(embedded_surface, takes_the_cell_that_a_point_is_in_or_next_to) {
  const auto mesh = row(1);
  EXPECT_GE(least_weight(embed_surfaces(*mesh, {octahedron(0.4)})), 0.0);
  // Bricks are 1/3 m long. The point is 5 cm outside a face, so its weights in the cells of that face are at least
  // -0.15.
  EXPECT_NEAR(least_weight(embed_surfaces(*mesh, {octahedron(0.55)})), -0.15, 1e-12);
}

TEST(embedded_surface, of_curved_cells_is_where_its_file_says) {
  MeshData data = box({0.0, 0.0, 0.0}, {1.0, 0.5, 0.5}, {2, 1, 1}, 2);
  // The map x ↦ x + s y², applied to all nodes of the cells.
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3)
    data.coordinates[i] += 0.3 * data.coordinates[i + 1] * data.coordinates[i + 1];
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  BodySurface surface = octahedron(0.3);
  surface.body = unnamed_body;
  for (Place& x : surface.mesh.vertices) x[0] -= 1.2;
  EXPECT_LE(largest_error(mesh, embed_surfaces(mesh, {surface}), identity), 1e-14);
}

TEST(embedded_surface, has_bodies_vertices_and_triangles_of_all) {
  const auto mesh = row(1);
  mesh->define_region("top", BoxShape{{2.0, 0.49, -1.0}, {4.0, 0.51, 1.0}}, "right");
  mesh->define_region("right/top", BoxShape{{2.0, 0.49, -1.0}, {4.0, 0.51, 1.0}}, "right");
  const EmbeddedSurface surface = embed_surfaces(*mesh, {octahedron(0.4)}, {"right/top"});
  EXPECT_EQ(body_names(surface.mesh->bodies()), body_names(mesh->bodies()));
  // In addition to the octahedron's six vertices, all 12 and 18 vertices of the other bodies' bricks, which are on the
  // surface.
  EXPECT_EQ(surface.mesh->num_global_vertices(), 12 + 6 + 18);
  EXPECT_EQ(surface.mesh->num_unused_vertices(), 0);
  EXPECT_EQ(surface.mesh->num_global(CellKind::triangle), 20 + 8 + 32);
  EXPECT_EQ(surface.mesh->num_global_cells(), 0);
  std::int64_t in_region =
      static_cast<std::int64_t>(surface.mesh->region("right/top").lower_cells[index_of(CellKind::triangle)].size());
  MPI_Allreduce(MPI_IN_PLACE, &in_region, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(in_region, 8);
}

}  // namespace
}  // namespace diffsim::embedded_surface_test
