// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/trajectory.hpp"

#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "io/hdf5_file.hpp"
#include "mesh_testing.hpp"

namespace diffsim::trajectory_test {
namespace {

using namespace testing_io;
namespace fs = std::filesystem;

void write_trajectory(const TetrahedralMesh& mesh, const std::string& path, int frames) {
  TrajectoryWriter writer(mesh, path);
  for (int k = 0; k < frames; ++k) writer.write(10 * k, 0.25 * k, state_of(mesh, k));
  writer.finish();
}

TEST(Trajectory, HoldsTheFramesInTheFilesOrder) {
  const auto mesh = small_mesh();
  const std::int64_t vertices = mesh->num_global_vertices();
  write_trajectory(*mesh, "order.h5", 3);
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, "order.h5");
  EXPECT_EQ(file.attribute("/", "format"), AttributeValue("diffsim trajectory"));
  EXPECT_EQ(file.attribute("/", "complete"), AttributeValue(std::int64_t{1}));
  EXPECT_TRUE(same_bits(file.read_array<double>("/time"), {0.0, 0.25, 0.5}));
  EXPECT_EQ(file.read_array<std::int64_t>("/step"), (std::vector<std::int64_t>{0, 10, 20}));
  EXPECT_EQ(file.info("/positions").shape, (Shape{3, vertices, 3}));
  EXPECT_EQ(file.info("/velocities").shape, (Shape{3, vertices, 3}));
  EXPECT_EQ(file.attribute("/positions", "units"), AttributeValue("m"));
  EXPECT_EQ(file.attribute("/velocities", "units"), AttributeValue("m/s"));
  EXPECT_EQ(file.attribute("/time", "units"), AttributeValue("s"));

  std::vector<double> positions, velocities;
  for (int k = 0; k < 3; ++k)
    for (std::int64_t v = 0; v < vertices; ++v)
      for (int c = 0; c < 3; ++c) {
        const bool is_used = v < vertices - 1;
        positions.push_back(is_used ? field_value(k, v, c) : (c == 2 ? 0.1 : 9.0));
        velocities.push_back(is_used ? 0.5 * field_value(k, v, c) : 0.0);
      }
  EXPECT_TRUE(same_bits(file.read_array<double>("/positions"), positions));
  EXPECT_TRUE(same_bits(file.read_array<double>("/velocities"), velocities));

  const MeshData whole = box_mesh({1.5, 1.0, 1.0}, {3, 2, 2}, 0, 1);
  EXPECT_EQ(file.read_array<std::int64_t>("/mesh/cells"), whole.cells);
  std::vector<double> rest = whole.coordinates;
  rest.insert(rest.end(), {9.0, 9.0, 0.1});
  EXPECT_TRUE(same_bits(file.read_array<double>("/mesh/vertices"), rest));
}

TEST(Trajectory, IsTheSameFileOnAnyNumberOfRanks) {
  if (num_ranks(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank is what others are compared with";
  write_trajectory(*small_mesh(), "world.h5", 4);
  on_rank_0([] { write_trajectory(*small_mesh(MPI_COMM_SELF), "alone.h5", 4); });
  EXPECT_EQ(read_bytes("world.h5"), read_bytes("alone.h5"));
  std::string alone = read_bytes("alone.xdmf");
  for (std::size_t at = 0; (at = alone.find("alone.h5", at)) != std::string::npos;) alone.replace(at, 8, "world.h5");
  EXPECT_EQ(read_bytes("world.xdmf"), alone);
}

TEST(Trajectory, DescribesItselfInXdmf) {
  const auto mesh = small_mesh();
  write_trajectory(*mesh, "described.h5", 2);
  const std::string text = read_bytes("described.xdmf");
  const std::string n = std::to_string(mesh->num_global_vertices()), c = std::to_string(mesh->num_global_cells());
  EXPECT_CONTAINS(text, "<Topology TopologyType=\"Tetrahedron\" NumberOfElements=\"" + c + "\">");
  EXPECT_CONTAINS(text, "CollectionType=\"Temporal\"");
  EXPECT_CONTAINS(text, "<Grid Name=\"step 10\"");
  EXPECT_CONTAINS(text, "<Time Value=\"0.25\"/>");
  EXPECT_CONTAINS(text, "Dimensions=\"" + c + " 4\">described.h5:/mesh/cells<");
  EXPECT_CONTAINS(text, "Dimensions=\"3 3\">1 0 0 1 1 1 1 " + n + " 3<");
  EXPECT_CONTAINS(text, "Dimensions=\"2 " + n + " 3\">described.h5:/positions<");
  EXPECT_CONTAINS(text, "<Attribute Name=\"velocities\" AttributeType=\"Vector\" Center=\"Node\">");
}

TEST(Trajectory, OfASecondOrderMeshHasAllItsNodes) {
  const auto mesh = small_mesh(MPI_COMM_WORLD, 2);
  write_trajectory(*mesh, "quadratic.h5", 2);
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, "quadratic.h5");
  MeshData whole = box_with_unused_vertex(MPI_COMM_SELF);
  const std::int64_t vertices = whole.num_vertices;
  elevate(MPI_COMM_SELF, whole);
  EXPECT_EQ(file.info("/positions").shape, (Shape{2, whole.num_vertices, 3}));
  EXPECT_EQ(file.info("/mesh/cells").shape, (Shape{whole.num_cells, 10}));
  EXPECT_EQ(file.read_array<std::int64_t>("/mesh/cells"), whole.cells);
  EXPECT_TRUE(same_bits(file.read_array<double>("/mesh/vertices"), whole.coordinates));
  std::vector<double> positions;
  for (int k = 0; k < 2; ++k)
    for (std::int64_t v = 0; v < whole.num_vertices; ++v)
      for (int c = 0; c < 3; ++c) positions.push_back(v == vertices - 1 ? (c == 2 ? 0.1 : 9.0) : field_value(k, v, c));
  EXPECT_TRUE(same_bits(file.read_array<double>("/positions"), positions));
  const std::string text = read_bytes("quadratic.xdmf");
  const std::string n = std::to_string(whole.num_vertices), c = std::to_string(whole.num_cells);
  EXPECT_CONTAINS(text, "<Topology TopologyType=\"Tetrahedron_10\" NumberOfElements=\"" + c + "\">");
  EXPECT_CONTAINS(text, "Dimensions=\"" + c + " 10\">quadratic.h5:/mesh/cells<");
  EXPECT_CONTAINS(text, "Dimensions=\"2 " + n + " 3\">quadratic.h5:/positions<");
  on_rank_0([] { write_trajectory(*small_mesh(MPI_COMM_SELF, 2), "quadratic_alone.h5", 2); });
  EXPECT_EQ(read_bytes("quadratic.h5"), read_bytes("quadratic_alone.h5"));
}

TEST(Trajectory, WritesTheFieldsAskedFor) {
  const auto mesh = small_mesh();
  State state = state_of(*mesh, 0);
  state.add(Field("temperature", static_cast<std::size_t>(mesh->num_vertices()))).fill(20.0);
  TrajectoryWriter writer(*mesh, "fields.h5", {"temperature"});
  writer.write(0, 0.0, state);
  writer.finish();
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, "fields.h5");
  EXPECT_FALSE(file.has("/positions"));
  EXPECT_EQ(file.info("/temperature").shape, (Shape{1, mesh->num_global_vertices()}));
  EXPECT_CONTAINS(read_bytes("fields.xdmf"), "fields.h5:/mesh/vertices<");
}

TEST(Trajectory, KeepsTheFramesBeforeAFailure) {
  const auto mesh = small_mesh();
  TrajectoryWriter writer(*mesh, "early.h5");
  writer.write(0, 0.0, state_of(*mesh, 0));
  writer.write(1, 0.1, state_of(*mesh, 1));
  State broken;
  broken.add(state_of(*mesh, 2)["positions"].clone());
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { writer.write(2, 0.2, broken); }), "no field 'velocities'");
  EXPECT_EQ(writer.num_frames(), 2);
  writer.finish(false);
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, "early.h5");
  EXPECT_EQ(file.attribute("/", "complete"), AttributeValue(std::int64_t{0}));
  EXPECT_EQ(file.info("/positions").shape, (Shape{2, mesh->num_global_vertices(), 3}));
  EXPECT_EQ(file.info("/velocities").shape, (Shape{2, mesh->num_global_vertices(), 3}));
  EXPECT_EQ(file.info("/step").shape, Shape{2});
}

TEST(Trajectory, LeavesNoFileUnlessFinished) {
  const auto mesh = small_mesh();
  {
    TrajectoryWriter writer(*mesh, "unfinished.h5");
    writer.write(0, 0.0, state_of(*mesh, 0));
  }
  {
    TrajectoryWriter writer(*mesh, "unfinished.h5");
    writer.finish();  // no frame was written
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("unfinished.h5"));
  EXPECT_FALSE(fs::exists("unfinished.h5.partial"));
  EXPECT_FALSE(fs::exists("unfinished.xdmf"));
}

TEST(Trajectory, RefusesWhatItCannotWrite) {
  const auto mesh = small_mesh();
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { TrajectoryWriter(*mesh, "absent/trajectory.h5"); }),
                  "absent/trajectory.h5: cannot be written");
  TrajectoryWriter huge(*mesh, "huge.h5", {"positions"}, std::int64_t{1} << 50);
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { huge.write(0, 0.0, state_of(*mesh, 0)); }), "MB are free");
  TrajectoryWriter unknown(*mesh, "unknown.h5", {"spin"});
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { unknown.write(0, 0.0, state_of(*mesh, 0)); }), "no field 'spin'");
}

}  // namespace
}  // namespace diffsim::trajectory_test
