// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/observations.hpp"

#include <array>
#include <limits>
#include <optional>

#include "core/file_order.hpp"
#include "diffsim/io/trajectory.hpp"
#include "io/hdf5_file.hpp"
#include "mesh_testing.hpp"

namespace diffsim::observations_test {
namespace {

using namespace testing_io;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A file written by hand. Row i of each frame belongs to vertex `vertices[i]`.
struct Handmade {
  std::vector<std::int64_t> steps{0, 10};
  std::vector<std::int64_t> vertices;
  bool names_vertices = true;
  std::optional<std::array<std::int64_t, 3>> unobserved{};  // frame, row, component
  double in_its_place = nan;

  void write(const std::string& path) const {
    std::vector<double> positions;
    for (std::size_t k = 0; k < steps.size(); ++k)
      for (const std::int64_t v : vertices)
        for (int c = 0; c < 3; ++c) positions.push_back(field_value(static_cast<int>(k), v, c));
    const auto rows = static_cast<std::int64_t>(vertices.size());
    if (unobserved)
      positions[static_cast<std::size_t>(((*unobserved)[0] * rows + (*unobserved)[1]) * 3 + (*unobserved)[2])] =
          in_its_place;
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path, "measurements", 1);
    file.write_array("/step", steps, {static_cast<std::int64_t>(steps.size())});
    file.write_array("/positions", positions, {static_cast<std::int64_t>(steps.size()), rows, 3}, "m");
    if (names_vertices) file.write_array("/vertices", vertices, {rows});
    file.publish();
  }
};

std::vector<double> expected(const TetrahedralMesh& mesh, int k, const std::vector<std::int64_t>* vertices = nullptr) {
  std::vector<double> values;
  for (int i = 0; i < mesh.num_owned_vertices(); ++i) {
    const std::int64_t v = mesh.vertex_order().file_index()[static_cast<std::size_t>(i)];
    const bool is_observed = !vertices || std::find(vertices->begin(), vertices->end(), v) != vertices->end();
    for (int c = 0; c < 3; ++c) values.push_back(is_observed ? field_value(k, v, c) : nan);
  }
  return values;
}

class Observed : public ::testing::TestWithParam<int> {};  // order of the mesh
INSTANTIATE_TEST_SUITE_P(Orders, Observed, ::testing::Values(1, 2));

TEST_P(Observed, ReadsATrajectory) {
  const auto mesh = small_mesh(MPI_COMM_WORLD, GetParam());
  {
    TrajectoryWriter writer(*mesh, "trajectory.h5");
    for (int k = 0; k < 4; ++k) writer.write(5 * k, 0.1 * k, state_of(*mesh, k));
    writer.finish();
  }
  const Observations all = read_observations(*mesh, "trajectory.h5");
  EXPECT_EQ(all.steps, (std::vector<int>{0, 5, 10, 15}));
  ASSERT_EQ(all.positions.size(), 4u);
  for (int k = 0; k < 4; ++k) EXPECT_TRUE(same_bits(all.positions.at(5 * k), expected(*mesh, k)));
  const Observations some = read_observations(*mesh, "trajectory.h5", {15, 5, 15});
  EXPECT_EQ(some.steps, (std::vector<int>{5, 15}));
  ASSERT_EQ(some.positions.size(), 2u);
  EXPECT_TRUE(same_bits(some.positions.at(15), expected(*mesh, 3)));
  EXPECT_CONTAINS(error_of(ErrorKind::input,
                           [&] {
                             read_observations(*mesh, "trajectory.h5", {5, 7});
                           }),
                  "trajectory.h5: /step: there is no step 7; the file has 4 steps from 0 to 15");
}

TEST(Observations, ReadsSomeVerticesAtStepsInAnyOrder) {
  const auto mesh = small_mesh();
  // Vertices in arbitrary order. No cell uses the last vertex.
  const std::vector<std::int64_t> vertices{17, 3, 35, 0, 22, mesh->num_global_vertices() - 1};
  Handmade file{.steps = {30, 10, 20}, .vertices = vertices};
  file.unobserved = {1, 3, 2};  // step 10, vertex 0, z
  file.write("some.h5");
  const Observations found = read_observations(*mesh, "some.h5");
  EXPECT_EQ(found.steps, (std::vector<int>{10, 20, 30}));
  EXPECT_TRUE(same_bits(found.positions.at(30), expected(*mesh, 0, &vertices)));
  EXPECT_TRUE(same_bits(found.positions.at(20), expected(*mesh, 2, &vertices)));
  std::vector<double> with_gap = expected(*mesh, 1, &vertices);
  for (int i = 0; i < mesh->num_owned_vertices(); ++i)
    if (mesh->vertex_order().file_index()[static_cast<std::size_t>(i)] == 0)
      with_gap[static_cast<std::size_t>(3 * i + 2)] = nan;
  EXPECT_TRUE(same_bits(found.positions.at(10), with_gap));
}

TEST(Observations, RefusesThoseOfAnotherMesh) {
  const auto mesh = small_mesh();
  const auto longer = TetrahedralMesh::box(MPI_COMM_WORLD, {1.5, 1.0, 1.0}, {4, 2, 2});
  const auto thicker = [] {
    MeshData data = box_with_unused_vertex(MPI_COMM_WORLD);
    for (double& x : data.coordinates) x *= 1.0 + 1e-15;
    return TetrahedralMesh(MPI_COMM_WORLD, data);
  };
  {
    TrajectoryWriter writer(*mesh, "mine.h5");
    writer.write(0, 0.0, state_of(*mesh, 0));
    writer.finish();
  }
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_observations(*longer, "mine.h5"); }),
                  "observations of another mesh: the file has 37 vertices, the mesh has 45");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_observations(thicker(), "mine.h5"); }),
                  "mine.h5: observations of another mesh: its positions or cells differ");
}

TEST(Observations, RefusesWhatMakesNoSense) {
  const auto mesh = small_mesh();
  const auto refusal = [&](const Handmade& file) {
    file.write("bad.h5");
    return error_of(ErrorKind::input, [&] { read_observations(*mesh, "bad.h5"); });
  };
  EXPECT_CONTAINS(refusal({.vertices = {4, 37}}), "/vertices: entry 1 is 37; the mesh's vertices are 0 to 36");
  EXPECT_CONTAINS(refusal({.vertices = {-1, 4}}), "/vertices: entry 0 is -1");
  EXPECT_CONTAINS(refusal({.vertices = {5, 4, 3, 2, 1, 4}}), "/vertices: vertex 4 is named twice");
  EXPECT_CONTAINS(refusal({.vertices = {4, 4}}), "/vertices: vertex 4 is named twice");
  EXPECT_CONTAINS(refusal({.vertices = {4, 5}, .names_vertices = false}),
                  "observations of another mesh: the file has 2 vertices, the mesh has 37");
  EXPECT_CONTAINS(refusal({.steps = {3, 3}, .vertices = {4}}), "/step: step 3 occurs twice");
  EXPECT_CONTAINS(refusal({.steps = {-3}, .vertices = {4}}), "/step: entry 0 is -3");
  EXPECT_CONTAINS(
      refusal({.vertices = {4, 5}, .unobserved = {{1, 1, 0}}, .in_its_place = std::numeric_limits<double>::infinity()}),
      "/positions: frame 1, row 1 is infinite");
  const auto handmade = [&](const auto& fill) {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "bad.h5", "measurements", 1);
    fill(file);
    file.publish();
    return error_of(ErrorKind::input, [&] { read_observations(*mesh, "bad.h5"); });
  };
  EXPECT_CONTAINS(handmade([](Hdf5File&) {}), "bad.h5: /positions: no such dataset");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) {
                    f.write_array("/positions", std::vector<double>(4), {2, 2});
                  }),
                  "/positions: has shape [2, 2]; expected [steps, vertices, 3]");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) { f.write_strings("/positions", {"here"}); }), "holds text");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) {
                    f.write_array("/positions", std::vector<double>(2 * 37 * 3), {2, 37, 3});
                    f.write_array("/step", std::vector<std::int64_t>(3), {3});
                  }),
                  "/step: has shape [3]; expected [2]");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) {
                    f.write_array("/positions", std::vector<double>(2 * 37 * 3), {2, 37, 3});
                    f.write_array("/step", std::vector<double>(2), {2});
                  }),
                  "/step: holds real numbers; expected integers");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) {
                    f.write_array("/positions", std::vector<double>(2 * 5 * 3), {2, 5, 3});
                    f.write_array("/vertices", std::vector<std::int64_t>(4), {4});
                  }),
                  "/vertices: has shape [4]; expected [5]");
  EXPECT_CONTAINS(handmade([](Hdf5File& f) {
                    f.write_array("/positions", std::vector<double>{}, {0, 37, 3});
                  }),
                  "/positions: has no steps");
}

}  // namespace
}  // namespace diffsim::observations_test
