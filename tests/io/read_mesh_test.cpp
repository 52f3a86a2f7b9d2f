// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/read_mesh.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "io_testing.hpp"
#include "mesh/readers/exodus_reader.hpp"
#include "mesh/readers/med_reader.hpp"
#include "mesh/readers/vtu_samples.hpp"

namespace diffsim::read_mesh_test {
namespace {

using testing_io::error_of;
using testing_mesh::VtuForm;
using testing_mesh::VtuWriter;

/// Returns a file with a rod of bricks of six tetrahedra each. The halves of the rod are the regions 1 and 2.
std::string rod_file(int bricks) {
  VtuWriter writer({VtuForm::Format::appended_raw, true, 8, true});
  std::vector<double> points, regions;
  std::vector<std::vector<int>> cells;
  for (int i = 0; i <= bricks; ++i)
    for (int k = 0; k < 4; ++k)
      points.insert(points.end(), {1.0 * i, k == 1 || k == 2 ? 1.0 : 0.0, k >= 2 ? 1.0 : 0.0});
  for (int i = 0; i < bricks; ++i) {
    const auto v = [i](int end, int k) { return 4 * (i + end) + k; };
    const int a = v(0, 0), g = v(1, 2), ring[] = {v(1, 0), v(1, 1), v(0, 1), v(0, 2), v(0, 3), v(1, 3)};
    for (int k = 0; k < 6; ++k) {
      cells.push_back({a, ring[k], ring[(k + 1) % 6], g});
      regions.push_back(2 * i < bricks ? 1 : 2);
    }
  }
  const std::string region = writer.array("region", "Int32", regions);
  return writer.file(writer.piece(points, cells, std::vector<int>(cells.size(), 10), region));
}

TEST(ReadMesh, SpreadsAVtuFileOverTheRanks) {
  const std::string file = "rod.vtu";
  testing_io::on_rank_0([&] { testing_io::write_bytes(file, rod_file(20)); });
  const auto mesh = read_mesh(MPI_COMM_WORLD, file, 0.5);
  EXPECT_EQ(mesh->num_global_cells(), 120);
  EXPECT_EQ(mesh->num_global_vertices(), 84);
  EXPECT_EQ(mesh->region("1").num_cells, 60);
  EXPECT_EQ(mesh->region("2").num_cells, 60);
  EXPECT_NEAR(mesh->quality().volume, 20.0 * 0.125, 1e-14);
  EXPECT_GT(mesh->num_cells(), 120 / testing_io::num_ranks() / 2);
  EXPECT_EQ(read_mesh(MPI_COMM_WORLD, file, 1.0, false, 2)->nodes_per_cell(), 10);
}

TEST(ReadMesh, GivesSurfacesWithoutVerticesOfNoTriangle) {
  VtuWriter writer({});
  const std::vector<double> points = {9, 9, 9, 0, 0, 0, 1, 0, 0, 8, 8, 8, 0, 1, 0, 0, 0, 1};
  const std::string file = "surface" + std::to_string(testing_io::rank()) + ".vtu";
  testing_io::write_bytes(file, writer.file(writer.piece(points, {{1, 2, 4}, {2, 4, 5}, {3, 0}}, {5, 5, 3})));
  const TriangleMesh surface = read_surface(file, 2.0);
  EXPECT_EQ(surface.vertices, (std::vector<std::array<double, 3>>{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}}));
  EXPECT_EQ(surface.triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 2, 3}}));
  testing_io::write_bytes(file, writer.file(writer.piece(points, {{3, 0}}, {3})));
  const std::string error = error_of(ErrorKind::input, [&] { read_surface(file); });
  EXPECT_EQ(error, file + ": no triangles, but 1 segments; save a mesh with triangles");
}

TEST(ReadMesh, SaysHowToConvertWhatIsNotRead) {
  for (const std::string file : {"part.inp", "part.BDF", "part.vtk"}) {
    testing_io::on_rank_0([&] { testing_io::write_bytes(file, "\x89HDF\r\n\x1a\n*NODE\n"); });
    const std::string error = error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, file); });
    EXPECT_EQ(error.substr(0, error.find(" (")),
              file + ": has an unsupported format; convert the file: `meshio convert --sets-to-int-data " + file +
                  " part.vtu`");
  }
  testing_io::on_rank_0([&] { testing_io::write_bytes("part.vtu", "<VTKFile"); });
  const std::string error = error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, "part.vtu"); });
  EXPECT_EQ(error.substr(0, error.find(" (")), "part.vtu:1: is not XML, or is truncated");
  testing_io::on_rank_0([&] { testing_io::write_bytes("part.pvtu", "<VTKFile type=\"PUnstructuredGrid\"/>"); });
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, "part.pvtu"); }),
                  "part.pvtu:1: is of type 'PUnstructuredGrid'; give a file of type UnstructuredGrid (.vtu)");
}

TEST(ReadMesh, ReadsMedAndExodusWhereTheirLibrariesAre) {
  const auto refused = [](const std::string& file, const std::string& what) {
    testing_io::on_rank_0([&] { testing_io::write_bytes(file, "\x89HDF\r\n\x1a\n"); });
    const std::string error = error_of(ErrorKind::input, [&] { read_mesh(MPI_COMM_WORLD, file); });
    EXPECT_EQ(error.substr(0, file.size() + 2 + what.size()), file + ": " + what);
  };
  refused("part.med", reads_med() ? "is not a MED file, or has a version that MED's library does not read"
                                  : "this diffsim was built without MED's library");
  for (const char* file : {"part.e", "part.exo", "part.G"})
    refused(file, reads_exodus() ? "netCDF cannot open it" : "this diffsim was built without netCDF");
}

}  // namespace
}  // namespace diffsim::read_mesh_test
