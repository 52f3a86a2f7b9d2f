// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/affine_body.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "contact/obstacles.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "error_text.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/boundary_mesh.hpp"
#include "mesh/closed_surface.hpp"
#include "mesh/lumping.hpp"

namespace diffsim::affine_body_test {
namespace {

using contact::box_triangles;

/// Returns a wedge whose principal axes are oblique to the coordinate axes.
TriangleMesh wedge() {
  return {{{0, 0, 0}, {0.3, 0, 0.1}, {0, 0.2, 0}, {0.1, 0.05, 0.4}}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
}

/// Returns the corners of the cell, on every rank.
std::vector<double> corners_of(const MeshData& data) {
  std::vector<double> x = data.coordinates;
  x.resize(12, 0.0);
  MPI_Bcast(x.data(), 12, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return x;
}

double volume_of(const std::vector<double>& x) {
  double e[3][3];
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c) e[k][c] = x[3 * (k + 1) + c] - x[c];
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6.0;
}

void expect_moments(const std::vector<double>& x, const VolumeMoments& moments) {
  for (std::size_t i = 0; i < 3; ++i) {
    double centre = 0.0;
    for (std::size_t a = 0; a < 4; ++a) centre += 0.25 * x[3 * a + i];
    EXPECT_NEAR(centre, moments.centre[i], 1e-15);
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0.0;
      for (std::size_t a = 0; a < 4; ++a)
        sum += 0.25 * (x[3 * a + i] - moments.centre[i]) * (x[3 * a + j] - moments.centre[j]);
      EXPECT_NEAR(sum, moments.covariance[i][j], 1e-16);
    }
  }
}

TEST(affine_body, quarters_of_the_mass_have_the_moments_of_the_body) {
  for (const TriangleMesh& surface : {wedge(), box_triangles({0, 0, 0}, {0.3, 0.2, 0.1})}) {
    const MeshData data = affine_body(MPI_COMM_WORLD, surface);
    const std::vector<double> x = corners_of(data);
    const VolumeMoments moments = volume_moments(surface);
    expect_moments(x, moments);
    EXPECT_GT(volume_of(x), 0.0);
    EXPECT_NEAR(data.affine->volume_factor * volume_of(x), moments.volume, 1e-15);
  }
}

TEST(affine_body, is_placed_with_its_surface) {
  MeshData data = affine_body(MPI_COMM_WORLD, wedge());
  place(data, {{2.0, 0.5, 1.5}, {1.0, 2.0, -1.0}, 0.7, {0.1, -0.3, 0.2}});
  const VolumeMoments moments = volume_moments(data.affine->surface);
  const std::vector<double> x = corners_of(data);
  expect_moments(x, moments);
  EXPECT_NEAR(data.affine->volume_factor * volume_of(x), moments.volume, 1e-15);
}

/// Returns the lumped masses for the density 3 kg/m³, one for each component of the local vertices. Masses of owned
/// vertices are complete.
std::vector<double> masses_of(const TetrahedralMesh& mesh) {
  Field density("density", mesh.cell_entities(), 1), rest("rest", mesh.vertex_entities(), 3),
      sums("sums", mesh.vertex_entities(), 3);
  density.from_host(std::vector<double>(static_cast<std::size_t>(mesh.num_cells()), 3.0));
  rest.from_host(mesh.rest_positions());
  Lumping(mesh).add_sums(density, rest, sums);
  mesh.vertex_exchange().add_to_owners(sums);
  return sums.to_host();
}

TEST(affine_body, lumps_its_whole_mass_as_the_only_body) {
  const TetrahedralMesh mesh(MPI_COMM_WORLD, affine_body(MPI_COMM_WORLD, wedge()));
  const double volume = volume_moments(wedge()).volume;
  ASSERT_EQ(mesh.bodies().size(), 1u);
  EXPECT_EQ(mesh.bodies().front().name, "body");
  EXPECT_EQ(mesh.region("body/all").num_vertices, 4);
  EXPECT_NEAR(mesh.quality().volume, volume, 1e-15);
  const std::vector<double> masses = masses_of(mesh);
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_owned_vertices()); ++v)
    EXPECT_NEAR(masses[3 * v], 3.0 * volume / 4.0, 1e-15) << v;
}

TEST(affine_body, lumps_its_whole_mass_beside_other_bodies) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"block", testing_mesh::box_body(MPI_COMM_WORLD, {"block", {1.0, 1.0, 1.0}, {2, 1, 1}})});
  bodies.push_back({"wedge", affine_body(MPI_COMM_WORLD, wedge())});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  const double volume = volume_moments(wedge()).volume;
  EXPECT_NEAR(mesh.quality().volume, 1.0 + volume, 1e-14);
  const std::vector<double> masses = masses_of(mesh);
  for (const int v : mesh.region("wedge/all").vertices) {
    if (v >= mesh.num_owned_vertices()) break;
    EXPECT_NEAR(masses[3 * static_cast<std::size_t>(v)], 3.0 * volume / 4.0, 1e-15);
  }
  double block = 0.0;
  for (const int v : mesh.region("block/all").vertices)
    if (v < mesh.num_owned_vertices()) block += masses[3 * static_cast<std::size_t>(v)];
  EXPECT_NEAR(sum_over_ranks(block, MPI_COMM_WORLD), 3.0, 1e-13);
}

TEST(affine_body, moves_its_surface_by_the_affine_map_of_its_corners) {
  const MeshData data = affine_body(MPI_COMM_WORLD, wedge());
  const std::vector<double> x = corners_of(data);
  double moved[12];
  const double A[3][3] = {{0.9, 0.2, -0.1}, {0.0, 1.1, 0.3}, {0.2, -0.4, 1.0}}, b[3] = {0.5, -1.0, 2.0};
  const auto map = [&](const double* X, double* y) {
    for (std::size_t i = 0; i < 3; ++i) y[i] = A[i][0] * X[0] + A[i][1] * X[1] + A[i][2] * X[2] + b[i];
  };
  for (std::size_t a = 0; a < 4; ++a) map(&x[3 * a], &moved[3 * a]);
  const std::vector<double> y = AffineMap(*data.affine, x.data(), 1, 4)(moved);
  ASSERT_EQ(y.size(), 9u);
  for (std::size_t v = 1; v < 4; ++v) {
    double expected[3];
    map(wedge().vertices[v].data(), expected);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(y[3 * (v - 1) + c], expected[c], 1e-14);
  }
}

TEST(affine_body, gathers_the_boundary_of_tetrahedra) {
  const MeshData box = testing_mesh::box_body(MPI_COMM_WORLD, {"box", {0.3, 0.2, 0.1}, {2, 2, 2}});
  const TriangleMesh surface = gather_triangles(MPI_COMM_WORLD, boundary_mesh(MPI_COMM_WORLD, box));
  EXPECT_EQ(surface.vertices.size(), 26u);  // without the inner vertex
  EXPECT_EQ(surface.triangles.size(), 48u);
  EXPECT_EQ(volume_error(surface), "");
  EXPECT_NEAR(volume_moments(surface).volume, 0.006, 1e-16);
}

TEST(affine_body, refuses_what_encloses_no_volume) {
  const auto text = [](TriangleMesh surface) {
    return error_of([&] { affine_body(MPI_COMM_WORLD, std::move(surface)); });
  };
  EXPECT_EQ(text({}), "an affine body needs triangles; there are none");
  TriangleMesh open = wedge();
  open.triangles.pop_back();
  EXPECT_CONTAINS(text(open), "has one triangle: the surface is open; repair the surface");
  TriangleMesh inwards = wedge();
  for (auto& triangle : inwards.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_CONTAINS(text(inwards), "have inward normals (volume -0.00");
  EXPECT_CONTAINS(text(box_triangles({0, 0, 0}, {1, 1, 1e-7})), "is too flat to turn about each of its axes");
  EXPECT_EQ(text(box_triangles({0, 0, 0}, {1, 1, 1e-5})), "no error");
}

}  // namespace
}  // namespace diffsim::affine_body_test
