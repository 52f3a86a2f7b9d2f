// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Formats that meshio converts as described in docs/scenes.md. Skipped if meshio is not available.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "diffsim/io/read_mesh.hpp"
#include "io_testing.hpp"

namespace diffsim::converted_mesh_test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Writes `text` to a file, converts the file as documented, and returns its mesh.
MeshData converted(const std::string& file, const std::string& text) {
  testing_io::write_bytes(file, text);
#ifdef DIFFSIM_MESHIO
  const std::string command = std::string(DIFFSIM_MESHIO) + " convert --sets-to-int-data " + file + " converted.vtu";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
#endif
  return read_mesh_data(MPI_COMM_WORLD, "converted.vtu");
}

std::vector<std::string> names_of(const MeshData& mesh) {
  std::vector<std::string> names;
  for (const RegionInfo& region : mesh.regions) names.push_back(region.name);
  return names;
}

class ConvertedMesh : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef DIFFSIM_MESHIO
    GTEST_SKIP() << "there is no meshio; install Debian's meshio-tools or PyPI's meshio";
#endif
  }
};

TEST_F(ConvertedMesh, Abaqus) {
  const MeshData mesh = converted("part.inp",
                                  "*HEADING\n*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1, 1, 1\n"
                                  "*ELEMENT, TYPE=C3D4, ELSET=left\n1, 1, 2, 3, 4\n"
                                  "*ELEMENT, TYPE=C3D4, ELSET=right\n2, 2, 3, 4, 5\n"
                                  "*NSET, NSET=foot\n1, 2, 3\n");
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 2, 3, 4}));
  EXPECT_EQ(mesh.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}));
  ASSERT_EQ(names_of(mesh), (std::vector<std::string>{"left-right=0", "left-right=1", "foot=-1", "foot=0"}));
  ASSERT_EQ(mesh.cell_regions.size(), 2u);
  EXPECT_EQ(mesh.cell_regions[1].cell, 1);
  EXPECT_EQ(mesh.cell_regions[1].region, 1);
  EXPECT_EQ(mesh.vertex_regions.size(), 5u);
}

TEST_F(ConvertedMesh, Nastran) {
  const MeshData mesh = converted("part.bdf",
                                  "BEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\n"
                                  "GRID,5,,1.,1.,1.\nCTETRA,1,7,1,2,3,4\nCTETRA,2,8,2,3,4,5\nENDDATA\n");
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 2, 3, 4}));
  ASSERT_EQ(names_of(mesh), (std::vector<std::string>{"7", "8"}));
}

}  // namespace
}  // namespace diffsim::converted_mesh_test
