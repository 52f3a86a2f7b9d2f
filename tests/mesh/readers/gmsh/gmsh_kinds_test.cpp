// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gmsh files whose cells are triangles, lines or points.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "mesh/readers/gmsh/gmsh_reader.hpp"
#include "mesh/readers/gmsh/gmsh_samples.hpp"

namespace diffsim::gmsh_kinds_test {
namespace {

/// Two triangles, one of them in no group, a line of two segments in group 3, and a tetrahedron. The section $Elements
/// begins at line 11.
const std::string mixed_22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    "$Elements\n5\n1 2 2 7 1 1 2 3\n2 2 0 1 2 4\n3 1 2 3 1 1 2\n4 1 2 3 1 2 3\n5 4 2 5 1 1 2 3 4\n$EndElements\n";

TEST(GmshKinds, ReadsTrianglesOrLinesAsCells) {
  const auto triangles = parse_gmsh(mixed_22, "mesh.msh", 1.0, false, 1, CellKind::triangle);
  EXPECT_EQ(triangles.num_cells, 0);
  EXPECT_EQ(triangles.kind(), CellKind::triangle);
  EXPECT_EQ(triangles.lower(CellKind::triangle).nodes, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 3}));
  ASSERT_EQ(triangles.lower(CellKind::triangle).regions.size(), 1u);
  EXPECT_EQ(triangles.lower(CellKind::triangle).regions[0].cell, 0);
  EXPECT_EQ(triangles.regions.at(static_cast<std::size_t>(triangles.lower(CellKind::triangle).regions[0].region)).tag,
            7);
  EXPECT_EQ(triangles.vertex_regions.size(), 3u);  // vertices of the line
  EXPECT_TRUE(triangles.face_regions.empty());

  const auto segments = parse_gmsh(mixed_22, "mesh.msh", 2.0, false, 1, CellKind::segment);
  EXPECT_EQ(segments.lower(CellKind::segment).nodes, (std::vector<std::int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(segments.lower(CellKind::segment).regions.size(), 2u);
  EXPECT_EQ(segments.num_unused_vertices, 1);
  EXPECT_EQ(segments.coordinates[3], 2.0);
  // In a mesh of tetrahedra the same triangle is a face. The triangle without a group is skipped.
  EXPECT_EQ(parse_gmsh(mixed_22, "mesh.msh").face_regions.size(), 1u);
}

/// Returns the same mesh in format 4.1: surface 1 is in group "skin", surface 2 in no group, curve 1 in "rim", point 1
/// in group 9, volume 1 in "core".
std::string mixed_41(testing_mesh::Encoding encoding) {
  using testing_mesh::Encoder;
  Encoder entities(encoding), nodes(encoding), elements(encoding);
  const auto bounds = [&](int count) {
    for (int i = 0; i < count; ++i) entities.real(0.0);
  };
  const auto entity = [&](int tag, int dimension, std::vector<int> groups) {
    entities.int32(tag);
    bounds(dimension == 0 ? 3 : 6);
    entities.size(groups.size());
    for (const int group : groups) entities.int32(group);
    if (dimension > 0) entities.size(0);
    entities.end_line();
  };
  entities.size(1).size(1).size(2).size(1).end_line();
  entity(1, 0, {9});
  entity(1, 1, {3});
  entity(1, 2, {7});
  entity(2, 2, {});
  entity(1, 3, {5});
  nodes.size(1).size(4).size(1).size(4).end_line().int32(3).int32(1).int32(0).size(4).end_line();
  for (std::uint64_t tag = 1; tag <= 4; ++tag) nodes.size(tag).end_line();
  for (const auto& x : {std::array{0., 0., 0.}, {1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}})
    nodes.real(x[0]).real(x[1]).real(x[2]).end_line();
  const auto block = [&](int dimension, int tag, int type, std::vector<std::vector<std::uint64_t>> rows) {
    elements.int32(dimension).int32(tag).int32(type).size(rows.size()).end_line();
    for (const auto& row : rows) {
      elements.size(1);
      for (const std::uint64_t node : row) elements.size(node);
      elements.end_line();
    }
  };
  elements.size(5).size(6).size(1).size(6).end_line();
  block(0, 1, 15, {{4}});
  block(1, 1, 1, {{1, 2}, {2, 3}});
  block(2, 1, 2, {{1, 2, 3}});
  block(2, 2, 2, {{1, 2, 4}});
  block(3, 1, 4, {{1, 2, 3, 4}});
  return testing_mesh::format_section("4.1", encoding) +
         "$PhysicalNames\n3\n1 3 \"rim\"\n2 7 \"skin\"\n3 5 \"core\"\n$EndPhysicalNames\n" +
         entities.section("Entities") + nodes.section("Nodes") + elements.section("Elements");
}

TEST(GmshKinds, ReadsRegionsOfVersion41) {
  using testing_mesh::Encoding;
  for (const Encoding encoding : {Encoding::text, Encoding::little_endian, Encoding::big_endian}) {
    const std::string file = mixed_41(encoding);
    const auto read = [&](CellKind kind) { return parse_gmsh(file, "mesh.msh", 1.0, false, 1, kind); };
    const auto region_of = [](const MeshData& mesh, CellKind kind) {
      EXPECT_FALSE(mesh.lower(kind).regions.empty());
      const RegionInfo& region = mesh.regions.at(static_cast<std::size_t>(mesh.lower(kind).regions.at(0).region));
      return region.name + " " + std::to_string(region.dimension) + " " + std::to_string(region.tag);
    };
    const MeshData triangles = read(CellKind::triangle);
    EXPECT_EQ(triangles.lower(CellKind::triangle).nodes, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 3}));
    EXPECT_EQ(triangles.lower(CellKind::triangle).regions.size(), 1u);
    EXPECT_EQ(region_of(triangles, CellKind::triangle), "skin 2 7");
    EXPECT_EQ(triangles.vertex_regions.size(), 3u + 1u);
    const MeshData segments = read(CellKind::segment);
    EXPECT_EQ(segments.lower(CellKind::segment).nodes, (std::vector<std::int64_t>{0, 1, 1, 2}));
    EXPECT_EQ(segments.lower(CellKind::segment).regions.size(), 2u);
    EXPECT_EQ(region_of(segments, CellKind::segment), "rim 1 3");
    const MeshData points = read(CellKind::point);
    EXPECT_EQ(points.lower(CellKind::point).nodes, (std::vector<std::int64_t>{3}));
    EXPECT_EQ(region_of(points, CellKind::point), "9 0 9");
    const MeshData solid = read(CellKind::tetrahedron);
    EXPECT_EQ(solid.regions.at(0).name, "core");
    EXPECT_EQ(solid.cell_regions.size(), 1u);
    EXPECT_EQ(solid.face_regions.size(), 1u);
  }
}

TEST(GmshKinds, SaysWhichCellsTheFileHasInsteadOfThoseWanted) {
  const auto refused = [](std::string content, CellKind kind, long line, const std::string& message) {
    try {
      parse_gmsh(content, "mesh.msh", 1.0, false, 1, kind);
      ADD_FAILURE() << "was read; expected: " << message;
    } catch (const InputError& error) {
      const std::string text = error.what(),
                        place = line > 0 ? "mesh.msh:" + std::to_string(line) + ": " : "mesh.msh: ";
      EXPECT_EQ(text.substr(0, place.size() + message.size()), place + message);
    }
  };
  std::string surface = mixed_22;
  surface.replace(surface.find("5 4 2 5 1 1 2 3 4"), 17, "5 2 2 7 1 2 3 4");
  refused(surface, CellKind::tetrahedron, 0, "no tetrahedra, but 3 triangles and 2 segments; mesh the volume");
  refused(mixed_22, CellKind::point, 0, "no points, but 1 tetrahedra and 2 triangles and 2 segments; mesh the body");
  std::string quadrangle = mixed_22;
  quadrangle.replace(quadrangle.find("2 2 0 1 2 4"), 11, "2 3 0 1 2 4 3");
  refused(quadrangle, CellKind::triangle, 14, "element type 3 (4-node quadrangle) is not a triangle");
  std::string flat = mixed_22;
  flat.replace(flat.find("2 2 0 1 2 4"), 11, "2 2 0 1 2 2");
  refused(flat, CellKind::triangle, 14, "triangle 1 has vertex 1 twice");
}

}  // namespace
}  // namespace diffsim::gmsh_kinds_test
