// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Files of meshes of several bodies. Each body has a group, in which its vertices and cells have the body's own order.
#include <cmath>
#include <limits>

#include "../mesh/body_meshes.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/io/trajectory.hpp"
#include "diffsim/mesh/construction.hpp"
#include "io/fields.hpp"
#include "io/observations.hpp"
#include "io/trajectory_frame.hpp"
#include "mesh_testing.hpp"

namespace diffsim::bodies_test {
namespace {

using namespace testing_io;
using namespace testing_mesh;

// The crate has 12 vertices and 12 cells, the slab 18 vertices and 24 cells.
const std::vector<BodyBox> boxes{{"crate", {1, 1, 1}, {2, 1, 1}}, {"slab", {1, 1, 1}, {2, 2, 1}, {0, 0, 3}}};

std::unique_ptr<TetrahedralMesh> two_bodies(MPI_Comm comm = MPI_COMM_WORLD) {
  return std::make_unique<TetrahedralMesh>(comm, mesh_of_boxes(comm, boxes));
}

/// Returns the values of frame k at the vertices from `first` to `last`.
std::vector<double> values_of(int k, std::int64_t first, std::int64_t last, double factor = 1.0) {
  std::vector<double> values;
  for (std::int64_t v = first; v < last; ++v)
    for (int c = 0; c < 3; ++c) values.push_back(factor * field_value(k, v, c));
  return values;
}

void write_trajectory(const TetrahedralMesh& mesh, const std::string& path) {
  TrajectoryWriter writer(mesh, path);
  for (int k = 0; k < 2; ++k) writer.write(10 * k, 0.25 * k, state_of(mesh, k));
  writer.finish();
}

TEST(Bodies, HaveGroupsInATrajectory) {
  const auto mesh = two_bodies();
  write_trajectory(*mesh, "bodies.h5");
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, "bodies.h5");
  std::vector<double> crate, slab;
  for (int k = 0; k < 2; ++k) {
    for (const double x : values_of(k, 0, 12)) crate.push_back(x);
    for (const double x : values_of(k, 12, 30, 0.5)) slab.push_back(x);
  }
  EXPECT_EQ(file.info("/bodies/crate/positions").shape, (Shape{2, 12, 3}));
  EXPECT_TRUE(same_bits(file.read_array<double>("/bodies/crate/positions"), crate));
  EXPECT_TRUE(same_bits(file.read_array<double>("/bodies/slab/velocities"), slab));
  EXPECT_EQ(file.attribute("/bodies/slab/velocities", "units"), AttributeValue("m/s"));
  EXPECT_FALSE(file.has("/positions"));
  // The cells of each body refer to the body's own vertex numbers.
  EXPECT_EQ(file.read_array<std::int64_t>("/bodies/slab/mesh/cells"), box_mesh({1, 1, 1}, {2, 2, 1}, 0, 1).cells);
  std::vector<double> rest = box_mesh({1, 1, 1}, {2, 2, 1}, 0, 1).coordinates;
  for (std::size_t i = 2; i < rest.size(); i += 3) rest[i] += 3.0;
  EXPECT_TRUE(same_bits(file.read_array<double>("/bodies/slab/mesh/vertices"), rest));
  EXPECT_EQ(file.read_array<std::int64_t>("/step"), (std::vector<std::int64_t>{0, 10}));

  const std::string xdmf = read_bytes("bodies.xdmf");
  EXPECT_CONTAINS(xdmf, "<Grid Name=\"step 10\" GridType=\"Collection\" CollectionType=\"Spatial\">");
  EXPECT_CONTAINS(xdmf, "<Grid Name=\"slab\" GridType=\"Uniform\">");
  EXPECT_CONTAINS(xdmf, "bodies.h5:/bodies/crate/mesh/cells");
  EXPECT_CONTAINS(xdmf, "Dimensions=\"2 18 3\">bodies.h5:/bodies/slab/velocities");
}

TEST(Bodies, AreTheSameFileOnAnyNumberOfRanks) {
  if (num_ranks(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank is what others are compared with";
  write_trajectory(*two_bodies(), "bodies_world.h5");
  on_rank_0([] { write_trajectory(*two_bodies(MPI_COMM_SELF), "bodies_alone.h5"); });
  EXPECT_EQ(read_bytes("bodies_world.h5"), read_bytes("bodies_alone.h5"));
}

TEST(Bodies, BeginWithAFrame) {
  const auto mesh = two_bodies();
  write_trajectory(*mesh, "frames.h5");
  State state = state_of(*mesh, 7);
  EXPECT_EQ(read_trajectory_frame(*mesh, "frames.h5", 10, state), 10);
  const State expected = state_of(*mesh, 1);
  EXPECT_TRUE(same_bits(state["positions"].to_host(), expected["positions"].to_host()));
  EXPECT_TRUE(same_bits(state["velocities"].to_host(), expected["velocities"].to_host()));
}

TEST(Bodies, AreObservedTogetherOrInPart) {
  const auto mesh = two_bodies();
  write_trajectory(*mesh, "seen.h5");
  const auto owned = 3 * static_cast<std::size_t>(mesh->num_owned_vertices());
  std::vector<double> all = state_of(*mesh, 1)["positions"].to_host();
  all.resize(owned);
  EXPECT_TRUE(same_bits(read_observations(*mesh, "seen.h5", {10}).positions.at(10), all));

  // Observations of two vertices of the slab only.
  const std::vector<double> seen{1, 2, 3, 4, 5, 6};
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "part.h5", "test", 1);
    file.write_array("/step", std::vector<std::int64_t>{4}, {1});
    file.write_array("/bodies/slab/positions", seen, {1, 2, 3});
    file.write_array("/bodies/slab/vertices", std::vector<std::int64_t>{17, 0}, {2});
    file.publish();
  }
  std::vector<double> expected(owned, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t v = 0; v < owned / 3; ++v) {
    const std::int64_t number = mesh->vertex_order().file_index()[v];
    if (number != 29 && number != 12) continue;
    for (std::size_t c = 0; c < 3; ++c) expected[3 * v + c] = seen[(number == 29 ? 0 : 3) + c];
  }
  const std::vector<double> found = read_observations(*mesh, "part.h5").positions.at(4);
  ASSERT_EQ(found.size(), owned);
  for (std::size_t i = 0; i < owned; ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) << i;

  const auto says = [&](const std::string& dataset, const std::vector<double>& values, const Shape& shape) {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "wrong.h5", "test", 1);
    file.write_array("/step", std::vector<std::int64_t>{4}, {1});
    file.write_array(dataset, values, shape);
    file.publish();
    return error_of(ErrorKind::input, [&] { read_observations(*mesh, "wrong.h5"); });
  };
  EXPECT_CONTAINS(says("/positions", seen, {1, 2, 3}), "/bodies/crate/positions: does not exist");
  EXPECT_CONTAINS(says("/bodies/crate/positions", seen, {1, 2, 3}), "has 2 vertices, the body has 12");
}

TEST(Bodies, HaveFieldsInGroups) {
  const auto mesh = two_bodies();
  std::vector<double> cells, vertices;
  for (const std::int64_t cell : mesh->cell_order().file_index()) cells.push_back(0.5 + static_cast<double>(cell));
  for (int v = 0; v < mesh->num_vertices(); ++v)
    for (int c = 0; c < 3; ++c)
      vertices.push_back(field_value(0, mesh->vertex_order().file_index()[static_cast<std::size_t>(v)], c));
  std::vector<double> two_steps = vertices;
  for (const double x : vertices) two_steps.push_back(-x);
  Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, "fields.h5", "test", 1);
  write_cell_field(file, *mesh, "/gradient/density", cells, "1");
  write_vertex_field(file, *mesh, "/gradient/load", vertices, 3, "N");
  write_vertex_field(file, *mesh, "/steps", two_steps, 3, "N", 2);
  file.publish();
  const Hdf5File made = Hdf5File::open(MPI_COMM_WORLD, "fields.h5");
  EXPECT_EQ(made.info("/bodies/crate/gradient/density").shape, (Shape{12}));
  EXPECT_EQ(made.read_array<double>("/bodies/slab/gradient/density").at(0), 12.5);
  EXPECT_EQ(made.info("/bodies/slab/steps").shape, (Shape{2, 18, 3}));
  EXPECT_TRUE(same_bits(read_cell_field(*mesh, "fields.h5", "/gradient/density"), cells));
  EXPECT_TRUE(same_bits(read_vertex_field(*mesh, "fields.h5", "/gradient/load", 3).values, vertices));
  EXPECT_TRUE(same_bits(read_vertex_field(*mesh, "fields.h5", "/steps", 3).values, two_steps));

  // For a dataset of one body, the values of other bodies are NaN.
  const std::vector<double> own = read_cell_field(*mesh, "fields.h5", "/bodies/slab/gradient/density", "slab");
  for (std::size_t c = 0; c < own.size(); ++c) {
    const bool is_slab = mesh->cell_order().file_index()[c] >= 12;
    EXPECT_TRUE(is_slab ? own[c] == cells[c] : std::isnan(own[c])) << c;
  }
  EXPECT_CONTAINS(error_of(ErrorKind::input,
                           [&] { read_cell_field(*mesh, "fields.h5", "/bodies/slab/gradient/density", "crate"); }),
                  "one value for each cell of the body 'crate'");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_cell_field(*mesh, "fields.h5", "/absent"); }),
                  "/bodies/crate/absent");
}

}  // namespace
}  // namespace diffsim::bodies_test
