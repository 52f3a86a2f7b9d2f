// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Compiled only if MED's library is available, with which the test writes its files.
#include "mesh/readers/med_reader.hpp"

#include <gtest/gtest.h>
#include <med.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim::med_reader_test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Elements of one type: nodes, numbered from 1, and the family of each element.
struct Elements {
  med_geometry_type type;
  std::vector<med_int> nodes, families;
};

struct MedContents {
  std::vector<med_float> points;
  std::vector<Elements> elements;
  std::vector<med_int> node_families;
  std::map<med_int, std::vector<std::string>> families;
  med_int dimension = 3;
  int meshes = 1;
};

void write_med(const std::string& path, const MedContents& contents) {
  const med_idt file = MEDfileOpen(path.c_str(), MED_ACC_CREAT);
  ASSERT_GE(file, 0);
  for (int m = 0; m < contents.meshes; ++m) {
    const std::string mesh = "part " + std::to_string(m);
    const std::string axes(static_cast<std::size_t>(contents.dimension) * MED_SNAME_SIZE, ' ');
    ASSERT_GE(MEDmeshCr(file, mesh.c_str(), contents.dimension, contents.dimension, MED_UNSTRUCTURED_MESH, "", "",
                        MED_SORT_DTIT, MED_CARTESIAN, axes.c_str(), axes.c_str()),
              0);
    const auto nodes = static_cast<med_int>(contents.points.size()) / contents.dimension;
    ASSERT_GE(MEDmeshNodeCoordinateWr(file, mesh.c_str(), MED_NO_DT, MED_NO_IT, 0.0, MED_FULL_INTERLACE, nodes,
                                      contents.points.data()),
              0);
    for (const Elements& elements : contents.elements) {
      const auto count = static_cast<med_int>(elements.nodes.size()) / (elements.type % 100);
      ASSERT_GE(MEDmeshElementConnectivityWr(file, mesh.c_str(), MED_NO_DT, MED_NO_IT, 0.0, MED_CELL, elements.type,
                                             MED_NODAL, MED_FULL_INTERLACE, count, elements.nodes.data()),
                0);
      if (!elements.families.empty()) {
        ASSERT_GE(MEDmeshEntityFamilyNumberWr(file, mesh.c_str(), MED_NO_DT, MED_NO_IT, MED_CELL, elements.type, count,
                                              elements.families.data()),
                  0);
      }
    }
    if (!contents.node_families.empty()) {
      ASSERT_GE(MEDmeshEntityFamilyNumberWr(file, mesh.c_str(), MED_NO_DT, MED_NO_IT, MED_NODE, MED_NONE, nodes,
                                            contents.node_families.data()),
                0);
    }
    ASSERT_GE(MEDfamilyCr(file, mesh.c_str(), "none", 0, 0, ""), 0);
    for (const auto& [family, groups] : contents.families) {
      std::string text;
      for (std::string group : groups) {
        group.resize(MED_LNAME_SIZE, '\0');
        text += group;
      }
      ASSERT_GE(MEDfamilyCr(file, mesh.c_str(), ("family " + std::to_string(family)).c_str(), family,
                            static_cast<med_int>(groups.size()), text.c_str()),
                0);
    }
  }
  MEDfileClose(file);
}

/// Returns two tetrahedra in MED's order of corners, and a triangle, a segment and a node in groups.
MedContents two_cells() {
  return {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1.5, 1, 1},
          {{MED_TETRA4, {1, 3, 2, 4, 2, 3, 5, 4}, {-1, -2}},
           {MED_TRIA3, {1, 2, 3}, {-3}},
           {MED_SEG2, {1, 4, 2, 3}, {-4, 0}}},
          {0, 0, 0, 0, 7},
          {{-1, {"left", "both"}}, {-2, {"both"}}, {-3, {"foot"}}, {-4, {"axis"}}, {7, {"tip"}}}};
}

herr_t keep_silent(hid_t, void*) { return 0; }

// This test must be the first: the library may change HDF5's setting at its first use.
TEST(MedReader, LeavesHdf5sErrorsAsTheyAre) {
  int marker = 0;
  H5Eset_auto2(H5E_DEFAULT, keep_silent, &marker);
  EXPECT_THROW(read_med("absent"), InputError);
  H5E_auto2_t setting = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &setting, &data);
  EXPECT_EQ(setting, &keep_silent);
  EXPECT_EQ(data, &marker);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

TEST(MedReader, ReadsCellsAndGroups) {
  write_med("two.med", two_cells());
  const MeshData mesh = read_med("two.med", 2.0);
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 4, 2, 3}));
  EXPECT_EQ(mesh.coordinates[12], 3.0);
  std::vector<std::string> names;
  for (const RegionInfo& region : mesh.regions) names.push_back(region.name + " " + std::to_string(region.dimension));
  EXPECT_EQ(names, (std::vector<std::string>{"both 3", "left 3", "foot 2", "axis 1", "tip 0"}));
  Numbers both;
  for (const auto& entry : mesh.cell_regions)
    if (entry.region == 0) both.push_back(entry.cell);
  EXPECT_EQ(both, (Numbers{0, 1}));
  EXPECT_EQ(mesh.cell_regions.size(), 3u);
  ASSERT_EQ(mesh.face_regions.size(), 1u);
  EXPECT_EQ(mesh.face_regions[0].cell, 0);
  EXPECT_EQ(mesh.face_regions[0].face, 3);
  ASSERT_EQ(mesh.vertex_regions.size(), 3u);
  EXPECT_EQ(mesh.vertex_regions[1].vertex, 3);
  EXPECT_EQ(mesh.vertex_regions[2].vertex, 4);
}

TEST(MedReader, ReadsCellsOfOtherKindsAndOrders) {
  write_med("two.med", two_cells());
  const MeshData triangles = read_med("two.med", 1.0, false, 1, CellKind::triangle);
  EXPECT_EQ(triangles.lower(CellKind::triangle).nodes, (Numbers{0, 1, 2}));
  EXPECT_EQ(triangles.lower(CellKind::triangle).regions.size(), 1u);
  EXPECT_EQ(read_med("two.med", 1.0, false, 1, CellKind::segment).lower(CellKind::segment).nodes,
            (Numbers{0, 3, 1, 2}));

  // Tetrahedra of the opposite orientation, as some programs write them.
  MedContents other = two_cells();
  other.elements[0].nodes = {1, 2, 3, 4, 2, 5, 3, 4};
  write_med("other.med", other);
  EXPECT_EQ(read_med("other.med").cells, (Numbers{0, 1, 2, 3, 1, 4, 2, 3}));
  other.elements[0].nodes = {1, 2, 3, 4, 2, 3, 5, 4};
  write_med("mixed.med", other);
  EXPECT_THROW(read_med("mixed.med"), InputError);

  // MED's order: corners 1 3 2 4, then the nodes on the edges 01, 12, 20, 03, 13, 23 of these corners.
  write_med("quadratic.med",
            {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, .5, 0, 0, .5, .5, .1, 0, .5, 0, 0, 0, .5, .5, 0, .5, 0, .5, .5},
             {{MED_TETRA10, {1, 3, 2, 4, 7, 6, 5, 8, 10, 9}, {}}},
             {},
             {}});
  const MeshData mesh = read_med("quadratic.med", 1.0, false, 2);
  EXPECT_EQ(mesh.order, 2);
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(read_med("quadratic.med").cells, (Numbers{0, 1, 2, 3}));

  write_med("plane.med", {{0, 0, 1, 0, 0, 1}, {{MED_TRIA3, {1, 2, 3}, {}}}, {}, {}, 2});
  EXPECT_EQ(read_med("plane.med", 1.0, false, 1, CellKind::triangle).coordinates,
            (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0}));
}

std::string error_of(const std::string& path, CellKind kind = CellKind::tetrahedron) {
  try {
    read_med(path, 1.0, false, 1, kind);
  } catch (const InputError& error) {
    return error.what();
  }
  return "was read";
}

TEST(MedReader, SaysWhatIsWrong) {
  const auto refused = [](const std::string& path, const std::string& message, CellKind kind = CellKind::tetrahedron) {
    EXPECT_EQ(error_of(path, kind).substr(0, message.size()), message);
  };
  refused("absent.med", "absent.med: is not a MED file, or cannot be read");
  std::ofstream("text.med") << "no HDF5\n";
  refused("text.med", "text.med: is not a MED file, or cannot be read");
  write_med("two.med", two_cells());
  refused("two.med", "two.med: no points, but 2 tetrahedra and 1 triangles and 2 segments", CellKind::point);
  MedContents contents = two_cells();
  contents.elements[0].nodes[5] = 9;
  write_med("bad.med", contents);
  refused("bad.med", "bad.med: has node 9, and there are 5 of them, counted from 1 (element 5 of the file");
  contents = two_cells();
  contents.elements.push_back({MED_PYRA5, {1, 2, 3, 4, 5}, {}});
  write_med("bad.med", contents);
  refused("bad.med", "bad.med: a pyramid is among the cells, where all must be tetrahedra");
  contents = two_cells();
  contents.meshes = 2;
  write_med("bad.med", contents);
  refused("bad.med", "bad.med: has 2 meshes; save only the mesh that you want to use");
}

}  // namespace
}  // namespace diffsim::med_reader_test
