// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/directors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/file_order.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "error_text.hpp"
#include "simulation/spring_bodies.hpp"

namespace diffsim::directors_test {
namespace {

using Points = std::vector<std::array<double, 3>>;
using Ends = std::vector<std::array<std::int64_t, 2>>;

/// Returns a helix of n segments.
MeshData helix(int n, MPI_Comm comm = MPI_COMM_WORLD) {
  Points points;
  Ends ends;
  for (std::int64_t i = 0; i <= n; ++i) {
    const double s = 0.4 * static_cast<double>(i);
    points.push_back({std::cos(s), std::sin(s), 0.3 * s});
    // Every third segment has its ends in reverse order.
    if (i > 0) ends.push_back(i % 3 == 0 ? std::array{i, i - 1} : std::array{i - 1, i});
  }
  return testing_spring::segments(comm, points, ends);
}

/// Returns a closed line: a circle that is bent out of its plane.
MeshData loop(int n, MPI_Comm comm) {
  Points points;
  Ends ends;
  for (std::int64_t i = 0; i < n; ++i) {
    const double s = 2.0 * std::acos(-1.0) * static_cast<double>(i) / n;
    points.push_back({std::cos(s) + 0.2 * std::sin(2.0 * s + 0.7), std::sin(s), 0.4 * std::sin(2.0 * s + 0.2)});
    ends.push_back({i, (i + 1) % n});
  }
  return testing_spring::segments(comm, points, ends);
}

struct Segment {
  Vec3<double> t, D;
  double length;
};
/// Returns the segments of this rank, by their numbers in the file.
std::map<std::int64_t, Segment> segments_of(const TetrahedralMesh& mesh) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const auto at = [&](int v) {
    const double* const x = &mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
    return Vec3<double>{{x[0], x[1], x[2]}};
  };
  std::map<std::int64_t, Segment> result;
  for (std::size_t s = 0; s < all.directors.size(); ++s) {
    Segment segment{at(all.vertices[2 * s + 1]) - at(all.vertices[2 * s]), at(all.directors[s]), 0.0};
    segment.length = std::sqrt(dot(segment.t, segment.t));
    for (int c = 0; c < 3; ++c) segment.t[c] /= segment.length;
    result[all.order->file_index()[s]] = segment;
  }
  return result;
}

/// Angle about u from D to E. D is first transported along the line by the shortest rotation from t to u.
double twist(const Segment& from, const Segment& to, double sign) {
  Vec3<double> t = from.t, u = to.t;
  for (int c = 0; c < 3; ++c) u[c] *= sign;
  const double part = dot(from.D, u) / (1.0 + dot(t, u));
  Vec3<double> D = from.D;
  for (int c = 0; c < 3; ++c) D[c] -= part * (t[c] + u[c]);
  return std::atan2(dot(u, cross(D, to.D)), dot(D, to.D));
}

TEST(Directors, are_across_their_segments_and_as_long) {
  MeshData data = helix(20);
  add_directors(MPI_COMM_WORLD, data);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  EXPECT_EQ(mesh.num_global_directors(), 20);
  EXPECT_EQ(mesh.num_global_vertices(), 41);
  EXPECT_EQ(mesh.num_unused_vertices(), 0);
  for (const auto& [number, segment] : segments_of(mesh)) {
    EXPECT_NEAR(dot(segment.t, segment.D), 0.0, 1e-14);
    EXPECT_NEAR(std::sqrt(dot(segment.D, segment.D)), segment.length, 1e-14);
  }
}

TEST(Directors, do_not_turn_about_an_open_line) {
  MeshData data = helix(20, MPI_COMM_SELF);
  add_directors(MPI_COMM_SELF, data);
  const TetrahedralMesh mesh(MPI_COMM_SELF, std::move(data));
  const std::map<std::int64_t, Segment> of = segments_of(mesh);
  for (std::int64_t s = 0; s + 1 < 20; ++s) {
    Segment here = of.at(s);
    const bool backwards = (s + 1) % 3 == 0, next_backwards = (s + 2) % 3 == 0;
    if (backwards)
      for (int c = 0; c < 3; ++c) here.t[c] = -here.t[c];
    EXPECT_NEAR(twist(here, of.at(s + 1), next_backwards ? -1.0 : 1.0), 0.0, 1e-13) << s;
  }
}

TEST(Directors, spread_the_twist_of_a_closed_line_evenly) {
  const int n = 24;
  MeshData data = loop(n, MPI_COMM_SELF);
  add_directors(MPI_COMM_SELF, data);
  const TetrahedralMesh mesh(MPI_COMM_SELF, std::move(data));
  const std::map<std::int64_t, Segment> of = segments_of(mesh);
  const double first = twist(of.at(0), of.at(1), 1.0);
  EXPECT_GT(std::abs(first), 1e-4);
  for (std::int64_t s = 0; s < n; ++s) EXPECT_NEAR(twist(of.at(s), of.at((s + 1) % n), 1.0), first, 1e-12) << s;
}

TEST(Directors, may_be_given) {
  MeshData data = helix(12);
  add_directors(MPI_COMM_WORLD, data, std::array{0.0, 0.0, 2.0});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  for (const auto& [number, segment] : segments_of(mesh)) {
    EXPECT_GT(segment.D[2], 0.9 * segment.length);
    EXPECT_NEAR(dot(segment.D, cross(segment.t, Vec3<double>{{0.0, 0.0, 1.0}})), 0.0, 1e-14);
  }
}

TEST(Directors, are_in_no_region) {
  MeshData data = helix(12);
  add_directors(MPI_COMM_WORLD, data);
  std::vector<NamedMesh> bodies;
  bodies.push_back({"line", helix(5)});
  bodies.push_back({"rod", std::move(data)});
  TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  EXPECT_EQ(mesh.num_global_directors(), 12);
  EXPECT_EQ(mesh.region("all").num_vertices, 6 + 13);
  EXPECT_EQ(mesh.region("rod/all").num_vertices, 13);
  mesh.define_region("ball", SphereShape{{0.0, 0.0, 0.0}, 100.0});
  EXPECT_EQ(mesh.region("ball").num_vertices, 6 + 13);
  mesh.define_region("tip", VertexList{{12}}, "rod");
  EXPECT_EQ(mesh.region("tip").num_vertices, 1);
  EXPECT_CONTAINS(error_of([&] { mesh.define_region("beyond", VertexList{{13}}, "rod"); }), "0 … 12");
  EXPECT_CONTAINS(error_of([&] { mesh.define_region("beyond", VertexList{{19}}); }), "the mesh's 0 … 18");
  // Segments of the other body have no directors.
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  std::int64_t with = 0;
  for (const int director : all.directors) with += director >= 0;
  EXPECT_EQ(sum_over_ranks(with, MPI_COMM_WORLD), 12);
}

TEST(Directors, are_refused_in_lists_of_the_whole_mesh) {
  MeshData data = helix(12);
  add_directors(MPI_COMM_WORLD, data);
  std::vector<NamedMesh> bodies;
  bodies.push_back({"rod", std::move(data)});
  bodies.push_back({"line", helix(5)});
  TetrahedralMesh mesh(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  // Vertices 0 … 12 and directors 13 … 24 of the rod, then vertices 25 … 30 of the line.
  mesh.define_region("ends", VertexList{{30, 12, 25, 0}});
  EXPECT_EQ(mesh.region("ends").num_vertices, 4);
  for (const std::int64_t director : {13, 24})
    EXPECT_CONTAINS(error_of([&] {
                      mesh.define_region("wrong", VertexList{{12, director, 25}});
                    }),
                    "region 'wrong': vertex " + std::to_string(director) + " is a director of 'rod'");
  EXPECT_CONTAINS(error_of([&] { mesh.define_region("beyond", VertexList{{31}}); }), "the mesh's 0 … 30");
}

TEST(Directors, of_neighbours_are_known_on_every_rank) {
  MeshData data = helix(30);
  add_directors(MPI_COMM_WORLD, data);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const auto number = [&](int v) { return mesh.vertex_order().file_index()[static_cast<std::size_t>(v)]; };
  for (std::size_t s = 0; s < all.directors.size(); ++s) {
    const std::int64_t segment = all.order->file_index()[s];
    EXPECT_EQ(number(all.directors[s]), 31 + segment);
    std::set<std::int64_t> expected, found;
    if (segment > 0) expected.insert(31 + segment - 1);
    if (segment + 1 < 30) expected.insert(31 + segment + 1);
    for (std::size_t side = 0; side < 2; ++side)
      if (all.directors_across[2 * s + side] >= 0) found.insert(number(all.directors_across[2 * s + side]));
    EXPECT_EQ(found, expected);
  }
}

TEST(Directors, refuse_branches_and_vectors_along_the_line) {
  const Points star{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  MeshData data = testing_spring::segments(MPI_COMM_WORLD, star, {{0, 1}, {0, 2}, {3, 0}});
  EXPECT_CONTAINS(error_of([&] { add_directors(MPI_COMM_WORLD, data); }),
                  "vertex 0 is an end of segments 0, 1 and 2; a rod has no branches");
  data = testing_spring::segments(MPI_COMM_WORLD, star, {{2, 0}, {0, 1}});
  EXPECT_CONTAINS(error_of([&] {
                    add_directors(MPI_COMM_WORLD, data, std::array{-3.0, 0.0, 0.0});
                  }),
                  "the director is along segment 1");
}

TEST(Directors, belong_to_segments_and_are_added_once_after_the_placement) {
  MeshData cube = cube_mesh(MPI_COMM_WORLD, 1);
  EXPECT_CONTAINS(error_of([&] { add_directors(MPI_COMM_WORLD, cube); }),
                  "directors belong to segments, but the cells of the mesh are tetrahedra");
  MeshData data = helix(3);
  place(data, {.translate = {1.0, 2.0, 3.0}});
  add_directors(MPI_COMM_WORLD, data);
  EXPECT_CONTAINS(error_of([&] { add_directors(MPI_COMM_WORLD, data); }), "the mesh has directors already");
  const std::vector<double> before = data.coordinates;
  for (const Placement& placement :
       {Placement{.scale = {2.0, 2.0, 2.0}}, Placement{.angle = 0.1}, Placement{.translate = {1.0, 0.0, 0.0}}})
    EXPECT_CONTAINS(error_of([&] { place(data, placement); }), "place the body before add_directors");
  place(data, {});
  EXPECT_EQ(data.coordinates, before);
}

TEST(Directors, turn_with_their_segments) {
  MeshData data = helix(12);
  add_directors(MPI_COMM_WORLD, data);
  const TetrahedralMesh mesh(MPI_COMM_WORLD, std::move(data));
  // A displacement that depends on z. Each director is rotated by the shortest rotation from the old direction of its
  // segment to the new one.
  std::vector<double> x = mesh.rest_positions();
  for (std::size_t v = 0; v < x.size() / 3; ++v)
    if (mesh.is_director()[v] == 0) {
      x[3 * v] += 0.3 * std::sin(2.0 * x[3 * v + 2]);
      x[3 * v + 1] += 0.2 * x[3 * v + 2];
    }
  turn_directors(mesh, x);
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const auto at = [](const std::vector<double>& of, int v) {
    const double* const p = &of[3 * static_cast<std::size_t>(v)];
    return Vec3<double>{{p[0], p[1], p[2]}};
  };
  for (std::size_t s = 0; s < all.directors.size(); ++s) {
    const int a = all.vertices[2 * s], b = all.vertices[2 * s + 1], d = all.directors[s];
    const Vec3<double> D = at(mesh.rest_positions(), d), moved = at(x, d);
    EXPECT_NEAR(dot(moved, at(x, b) - at(x, a)), 0.0, 1e-13);
    EXPECT_NEAR(dot(moved, moved), dot(D, D), 1e-13);
    // The rotation leaves the component along its axis unchanged.
    const Vec3<double> axis = cross(at(mesh.rest_positions(), b) - at(mesh.rest_positions(), a), at(x, b) - at(x, a));
    EXPECT_NEAR(dot(moved - D, axis), 0.0, 1e-13);
  }
}

}  // namespace
}  // namespace diffsim::directors_test
