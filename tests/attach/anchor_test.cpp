// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Anchors: the positions at which vertices are attached to cells of each kind, and the properties of these anchors.
#include "attach/anchor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "attach/attachment.hpp"
#include "core/energy_derivatives.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "error_text.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/directors.hpp"
#include "simulation/spring_bodies.hpp"

namespace diffsim::anchor_test {
namespace {

using testing_mesh::grid_of_triangles;
using testing_mesh::whole_on_first_rank;

/// Positions of four points, each at one body: a tetrahedron of a block, a triangle of a sheet, a segment of a rod, and
/// a segment of a rope.
constexpr double points[4][3] = {{0.31, 0.47, 0.12}, {0.62, 1.53, 0.05}, {0.43, 3.02, -0.03}, {0.71, 4.0, 0.0}};

std::shared_ptr<TetrahedralMesh> bodies() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<NamedMesh> parts;
  std::vector<std::array<double, 3>> places;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (std::int64_t i = 0; i < 4; ++i) {
    places.push_back({points[i][0], points[i][1], points[i][2]});
    if (i > 0) ends.push_back({i - 1, i});
  }
  parts.push_back({"cord", testing_spring::segments(comm, places, ends)});
  parts.push_back({"block", testing_mesh::box_body(comm, {"block", {1.0, 1.0, 1.0}, {2, 2, 2}, {0.0, 0.0, 0.0}})});
  parts.push_back({"sheet", whole_on_first_rank(comm, grid_of_triangles({3, 3}, {1.0, 1.0}, 0.0))});
  MeshData& sheet = parts.back().data;
  for (std::size_t i = 0; i < sheet.coordinates.size(); i += 3) {
    sheet.coordinates[i + 1] += 1.2;
    sheet.coordinates[i + 2] = 0.1 * sheet.coordinates[i];
  }
  for (const double y : {3.0, 4.0}) {
    places.clear();
    ends.clear();
    for (std::int64_t i = 0; i <= 4; ++i) {
      places.push_back({0.25 * static_cast<double>(i), y, 0.0});
      if (i > 0) ends.push_back({i - 1, i});
    }
    parts.push_back({y < 3.5 ? "rod" : "rope", testing_spring::segments(comm, places, ends)});
    if (y < 3.5) add_directors(comm, parts.back().data);
  }
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(parts)));
  for (int i = 0; i < 4; ++i) mesh->define_region("point" + std::to_string(i), VertexList{{i}}, "cord");
  return mesh;
}

struct Target {
  const char *point, *to;
  AnchorKind kind;
  std::size_t nodes;
};
class Anchor : public ::testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(kinds, Anchor,
                         ::testing::Values(Target{"point0", "block/all", AnchorKind::tetrahedron, 4},
                                           Target{"point1", "sheet/all", AnchorKind::triangle, 3},
                                           Target{"point2", "rod/all", AnchorKind::framed_segment, 3},
                                           Target{"point3", "rope/all", AnchorKind::segment, 2}));

TEST_P(Anchor, is_where_the_vertex_is_and_moves_with_the_body) {
  const auto mesh = bodies();
  const Target of = GetParam();
  const Anchors anchors = find_anchors(*mesh, of.point, of.to);
  EXPECT_EQ(anchors.kind, of.kind);
  EXPECT_EQ(sum_over_ranks(static_cast<std::int64_t>(anchors.vertices.size()), MPI_COMM_WORLD), 1);
  ASSERT_EQ(anchors.nodes.size(), of.nodes * anchors.vertices.size());
  // Positions of all nodes, since nodes may be owned by other ranks.
  std::vector<double> all(3 * static_cast<std::size_t>(mesh->num_global_vertices()), 0.0);
  std::vector<std::int64_t> first(static_cast<std::size_t>(num_ranks(MPI_COMM_WORLD)) + 1, 0);
  const std::int64_t owned = mesh->num_owned_vertices();
  MPI_Allgather(&owned, 1, MPI_INT64_T, first.data() + 1, 1, MPI_INT64_T, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < first.size(); ++r) first[r] += first[r - 1];
  const auto rank = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  for (std::int64_t i = 0; i < 3 * owned; ++i)
    all[static_cast<std::size_t>(3 * first[rank] + i)] = mesh->rest_positions()[static_cast<std::size_t>(i)];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < anchors.vertices.size(); ++i) {
    Vec3<double> q[4] = {}, turned[4] = {};
    const double c = std::cos(0.7), s = std::sin(0.7);
    const auto turn = [&](const Vec3<double>& x, double shift) {
      return Vec3<double>{{c * x[0] - s * x[2] + shift, x[1] - shift, s * x[0] + c * x[2]}};
    };
    for (std::size_t k = 0; k < of.nodes; ++k) {
      const VertexLocation& node = anchors.nodes[i * of.nodes + k];
      const auto at = static_cast<std::size_t>(3 * (first[static_cast<std::size_t>(node.rank)] + node.index));
      q[k] = {{all[at], all[at + 1], all[at + 2]}};
      const bool is_director = of.kind == AnchorKind::framed_segment && k == 2;
      turned[k] = turn(q[k], is_director ? 0.0 : 0.4);
    }
    const double* const X = &mesh->rest_positions()[3 * static_cast<std::size_t>(anchors.vertices[i])];
    const Vec3<double> here{{X[0], X[1], X[2]}}, there = turn(here, 0.4);
    const Vec3<double> p = anchor_place(anchors.kind, q, &anchors.places[3 * i]),
                       moved = anchor_place(anchors.kind, turned, &anchors.places[3 * i]);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(p[k], here[k], 1e-14);
      EXPECT_NEAR(moved[k], there[k], 1e-14);
    }
  }
}

TEST(AttachmentSpring, has_its_derivatives) {
  for (const AnchorKind kind : {AnchorKind::vertex, AnchorKind::segment, AnchorKind::framed_segment,
                                AnchorKind::triangle, AnchorKind::tetrahedron}) {
    stencil::Values<AttachmentSpring> at{};
    constexpr double places[5][3] = {
        {0.4, 0.9, 0.2}, {0.1, 0.2, 0.05}, {1.1, 0.1, 0.3}, {0.6, 0.9, -0.2}, {0.2, 0.3, 0.8}};
    for (int k = 0; k < 15; ++k) at.x[k / 3][k % 3] = places[k / 3][k % 3];
    const double numbers[] = {7.0, 0.3, 0.25, 0.4};
    for (int k = 0; k < 4; ++k) at.p[k] = numbers[k];
    EXPECT_LE(testing_core::error_of_derivatives(AttachmentSpring{kind}, at), 1e-14) << static_cast<int>(kind);
  }
}

TEST(FindAnchors, refuses_what_is_too_far_and_what_is_attached_to_itself) {
  const auto mesh = bodies();
  mesh->define_region("ends", VertexList{{0, 3}}, "cord");
  EXPECT_CONTAINS(error_of([&] { find_anchors(*mesh, "ends", "block/all"); }),
                  "vertex 3 of cord of region 'ends' is 3.0");
  EXPECT_CONTAINS(error_of([&] { find_anchors(*mesh, "point2", "rope/all"); }), "has no frame to keep a distance");
  EXPECT_CONTAINS(error_of([&] { find_anchors(*mesh, "ends", "cord/all"); }), "vertices in common");
}

}  // namespace
}  // namespace diffsim::anchor_test
