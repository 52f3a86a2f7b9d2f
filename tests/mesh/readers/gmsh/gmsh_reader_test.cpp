// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "data_folder.hpp"
#include "diffsim/core/error.hpp"
#include "gmsh_samples.hpp"
#include "mesh/validate.hpp"

namespace diffsim::gmsh_reader_test {
namespace {

using testing_mesh::Encoding;
using testing_mesh::Sample;

constexpr Encoding encodings[] = {Encoding::text, Encoding::little_endian, Encoding::big_endian};

void expect_equal(const MeshData& a, const MeshData& b) {
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.num_vertices, b.num_vertices);
  EXPECT_EQ(a.num_cells, b.num_cells);
  EXPECT_EQ(a.first_vertex, b.first_vertex);
  EXPECT_EQ(a.first_cell, b.first_cell);
  EXPECT_EQ(a.coordinates, b.coordinates);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.num_unused_vertices, b.num_unused_vertices);
  const auto same = [](const auto& first, const auto& second, const auto& key) {
    return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                      [&](const auto& x, const auto& y) { return key(x) == key(y); });
  };
  EXPECT_TRUE(same(a.regions, b.regions, [](const auto& r) { return std::tie(r.name, r.dimension, r.tag); }));
  EXPECT_TRUE(same(a.cell_regions, b.cell_regions, [](const auto& e) { return std::tie(e.cell, e.region); }));
  EXPECT_TRUE(same(a.face_regions, b.face_regions, [](const auto& e) { return std::tie(e.cell, e.face, e.region); }));
  EXPECT_TRUE(same(a.vertex_regions, b.vertex_regions, [](const auto& e) { return std::tie(e.vertex, e.region); }));
}

/// The mesh that every file of Sample contains, written by hand.
MeshData expected_sample() {
  MeshData mesh;
  mesh.num_vertices = 6;
  mesh.num_cells = 2;
  mesh.num_unused_vertices = 1;
  mesh.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 9, 9, 0.1};
  mesh.cells = {0, 1, 2, 3, 1, 2, 3, 4};
  mesh.regions = {{"body", 3, 1}, {"half", 3, 2}, {"base", 2, 3}, {"4", 2, 4}, {"an edge", 1, 1}, {"body", 0, 9}};
  mesh.cell_regions = {{0, 0}, {1, 0}, {0, 1}};
  mesh.face_regions = {{0, 3, 2}, {0, 0, 3}};
  mesh.vertex_regions = {{0, 4}, {1, 4}, {4, 5}};
  return mesh;
}

/// Checks that the message is `mesh.msh:line: …message…; …`. Line 0 means a message without a line, -1 any line.
void expect_refused(const std::string& content, long line, const std::string& message, int order = 1) {
  try {
    parse_gmsh(content, "mesh.msh", 1.0, false, order);
    ADD_FAILURE() << "was read; expected: " << message;
  } catch (const InputError& error) {
    const std::string text = error.what();
    const std::string place = line < 0   ? "mesh.msh:"
                              : line > 0 ? "mesh.msh:" + std::to_string(line) + ": "
                                         : "mesh.msh: ";
    EXPECT_EQ(text.substr(0, place.size()), place) << text;
    EXPECT_NE(text.find(message), std::string::npos) << text << "\nexpected: " << message;
    EXPECT_NE(text.find("; "), std::string::npos) << "says nothing to do: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
}

TEST(GmshReader, ReadsEveryEncodingAlike) {
  for (const int version : {22, 41})
    for (const Encoding encoding : encodings) {
      SCOPED_TRACE(std::to_string(version) + ", encoding " + std::to_string(static_cast<int>(encoding)));
      expect_equal(parse_gmsh(Sample::file(version, encoding), "sample"), expected_sample());
    }
}

TEST(GmshReader, ReadsSectionsInAnyOrder) {
  for (const Encoding encoding : encodings) {
    for (auto sections : {Sample::sections_22(encoding), Sample::sections_41(encoding)}) {
      std::reverse(sections.begin() + 1, sections.end());
      expect_equal(parse_gmsh(Sample::joined(sections), "sample"), expected_sample());
    }
  }
}

TEST(GmshReader, NamesGroupsByTheirTagWithoutNames) {
  auto expected = expected_sample();
  for (auto& region : expected.regions) region.name = std::to_string(region.tag);
  for (const int version : {22, 41}) {
    auto sections = version == 22 ? Sample::sections_22(Encoding::text) : Sample::sections_41(Encoding::text);
    std::erase(sections, Sample::names());
    expect_equal(parse_gmsh(Sample::joined(sections), "sample"), expected);
  }
}

TEST(GmshReader, ReadsWithoutEntitiesAsWithoutGroups) {
  auto sections = Sample::sections_41(Encoding::text);
  std::erase_if(sections, [](const auto& section) {
    return section.starts_with("$Entities") || section.starts_with("$PhysicalNames");
  });
  auto expected = expected_sample();
  expected.regions.clear();
  expected.cell_regions.clear();
  expected.face_regions.clear();
  expected.vertex_regions.clear();
  expect_equal(parse_gmsh(Sample::joined(sections), "sample"), expected);
}

TEST(GmshReader, KeepsAGroupThatHasANameButNoElements) {
  auto sections = Sample::sections_22(Encoding::text);
  sections[2] = "$PhysicalNames\n1\n3 17 \"nothing\"\n$EndPhysicalNames\n";
  const auto mesh = parse_gmsh(Sample::joined(sections), "sample");
  ASSERT_EQ(mesh.regions.size(), 7u);
  EXPECT_EQ(mesh.regions[2].name, "nothing");
}

TEST(GmshReader, ReadsWindowsLineEndingsAndBlankLines) {
  for (const int version : {22, 41}) {
    std::string content;
    for (const char c : Sample::file(version, Encoding::text)) {
      if (c == '\n') content += "\t\r\n \r";
      content += c;
    }
    expect_equal(parse_gmsh(content, "sample"), expected_sample());
  }
}

TEST(GmshReader, ScalesCoordinates) {
  const auto mesh = parse_gmsh(Sample::file(41, Encoding::text), "sample", 1e-3);
  EXPECT_EQ(mesh.coordinates[3], 1e-3);
  EXPECT_EQ(mesh.coordinates[17], 1e-3 * 0.1);
  EXPECT_THROW(parse_gmsh(Sample::file(41, Encoding::text), "sample", 0), InputError);
  EXPECT_THROW(parse_gmsh(Sample::file(41, Encoding::text), "sample", std::nan("")), InputError);
}

TEST(GmshReader, ReadsNodeTagsWithHugeGaps) {
  auto content = Sample::file(41, Encoding::text);
  for (const char* tag : {"\n40\n", " 40\n"}) {
    for (auto at = content.find(tag); at != std::string::npos; at = content.find(tag, at + 1))
      content.replace(at + 1, 2, "9000000000000000000");
  }
  expect_equal(parse_gmsh(content, "sample"), expected_sample());
}

TEST(GmshReader, TakesCornersOfSecondOrderTrianglesAndLines) {
  auto content = Sample::file(22, Encoding::text);
  const auto replace = [&content](const std::string& from, const std::string& to) {
    ASSERT_NE(content.find(from), std::string::npos);
    content.replace(content.find(from), from.size(), to);
  };
  replace("\n2 1 2 1 1 5 3\n", "\n2 8 2 1 1 5 3 8\n");
  replace("\n3 2 2 3 1 5 12 3\n", "\n3 9 2 3 1 5 12 3 8 8 8\n");
  expect_equal(parse_gmsh(content, "sample"), expected_sample());
}

// Second-order files.

/// The mesh that the files of Sample of order 2 contain. Vertices 6 to 14 are the nodes 101 to 109.
MeshData expected_second_order() {
  MeshData mesh = expected_sample();
  mesh.order = 2;
  mesh.num_vertices = 15;
  mesh.coordinates.insert(mesh.coordinates.end(), {0.5, 0, 0,   0.5, 0.5,   0,   0,   0.5, 0, 0,   0,   0.5, 0.5, 0,
                                                   0.5, 0, 0.5, 0.5, 1.125, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 1});
  // The nodes on the edges 01, 12, 02, 03, 13, 23 of the cells with corners 0 1 2 3 (nodes 5, 3, 12, 7) and 1 2 3 4
  // (nodes 3, 12, 7, 40).
  mesh.cells = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 7, 11, 10, 12, 13, 14};
  mesh.vertex_regions = {{0, 4}, {1, 4}, {6, 4}, {4, 5}};
  return mesh;
}

TEST(GmshReader, ReadsSecondOrderInEveryEncodingAlike) {
  for (const int version : {22, 41})
    for (const Encoding encoding : encodings) {
      SCOPED_TRACE(std::to_string(version) + ", encoding " + std::to_string(static_cast<int>(encoding)));
      const std::string content = Sample::file(version, encoding, 2);
      expect_equal(parse_gmsh(content, "sample", 1.0, false, 2), expected_second_order());
      // With order 1 only the corners are used; the nodes on edges are kept as vertices without cells.
      MeshData corners = expected_sample();
      corners.num_vertices = 15;
      corners.num_unused_vertices = 10;
      corners.coordinates = expected_second_order().coordinates;
      expect_equal(parse_gmsh(content, "sample"), corners);
      // With order 2 a linear file is still read as a linear mesh.
      expect_equal(parse_gmsh(Sample::file(version, encoding), "sample", 1.0, false, 2), expected_sample());
    }
}

TEST(GmshReader, KeepsCurvedEdges) {
  const auto mesh = parse_gmsh(Sample::file(41, Encoding::text, 2), "sample", 2.0, false, 2);
  EXPECT_EQ(std::vector<double>(&mesh.coordinates[36], &mesh.coordinates[36] + 3), (std::vector<double>{2.25, 1, 1}));
}

/// One straight tetrahedron with Gmsh's order of nodes. The last line is 21.
const std::string second_order_22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 0\n6 .5 .5 0\n7 0 .5 0\n8 0 0 .5\n9 0 .5 .5\n10 .5 0 .5\n"
    "$EndNodes\n$Elements\n2\n1 9 2 7 1 1 3 2 7 6 5\n2 11 2 5 1 1 2 3 4 5 6 7 8 9 10\n$EndElements\n";

TEST(GmshReader, RefusesSecondOrderCellsThatDoNotHoldTogether) {
  const auto refused = [](const std::string& from, const std::string& to, long line, const std::string& message) {
    SCOPED_TRACE(to);
    std::string content = second_order_22;
    const auto at = content.find(from);
    ASSERT_NE(at, std::string::npos);
    expect_refused(content.replace(at, from.size(), to), line, message, 2);
  };
  EXPECT_EQ(parse_gmsh(second_order_22, "mesh.msh", 1.0, false, 2).face_regions.size(), 1u);
  // Any exchange of two nodes on edges folds the cell. The first exchange gives VTK's order.
  refused("8 9 10\n$End", "8 10 9\n$End", 20, "cell 0 is curved so far that it folds over");
  refused("5 6 7 8 9 10\n$End", "6 5 7 8 9 10\n$End", 20, "cell 0 is curved so far that it folds over");
  refused("\n5 .5 0 0\n", "\n5 .2 0 0\n", 20, "cell 0 is curved so far that it folds over");
  refused("\n5 .5 0 0\n", "\n5 nan 0 0\n", 10, "a coordinate is nan");
  refused("9 10\n$End", "9 9\n$End", 20, "cell 0 has vertex 8 twice; remove the cell or give it ten different");
  refused("9 10\n$End", "9 11\n$End", 20, "the element has node 11, which $Nodes does not");
  refused("1 3 2 7 6 5\n", "1 3 2 7 6 11\n", 19, "the element has node 11, which $Nodes does not");
  refused("1 3 2 7 6 5\n", "1 3 2 7 5 6\n", 19,
          "this triangle has vertex 4 on the edge of vertices 2 and 1, where its");
}

TEST(GmshReader, TakesTheSurfaceOfASecondOrderMeshInEitherOrder) {
  std::string content = second_order_22;
  content.replace(content.find("1 9 2 7 1 1 3 2 7 6 5"), 21, "1 2 2 7 1 1 3 2");
  EXPECT_EQ(parse_gmsh(content, "mesh.msh", 1.0, false, 2).face_regions.size(), 1u);
}

TEST(GmshReader, RefusesNeighboursThatDoNotShareTheNodesOfTheirEdges) {
  std::string content = Sample::file(22, Encoding::text, 2);
  // Replaces node 106 of the second tetrahedron by a separate node.
  const std::string with = " 106 ";
  const auto last = content.rfind(with);
  ASSERT_NE(last, std::string::npos);
  content.replace(last, with.size(), " 110 ");
  content.replace(content.find("$Nodes\n15\n"), 10, "$Nodes\n16\n110 0 0.5 0.5\n");
  expect_refused(content, -1, "where cell 0 has vertex", 2);
}

/// Versions 2.2 and 4.1 of the file number the vertices differently, so vertices are compared by position.
TEST(GmshReader, ReadsTheSameMeshInFourFiles) {
  DIFFSIM_SKIP_WITHOUT_MESHES();
  const auto directory = testing_data::meshes_folder();
  const auto read = [&](const char* name) { return read_gmsh((directory / name).string()); };
  const auto mesh_22 = read("format_22_ascii.msh"), mesh_41 = read("format_41_ascii.msh");
  expect_equal(mesh_22, read("format_22_binary.msh"));
  expect_equal(mesh_41, read("format_41_binary.msh"));

  using Point = std::array<double, 3>;
  const auto position = [](const MeshData& mesh, std::int64_t vertex) {
    const double* x = &mesh.coordinates[3 * static_cast<std::size_t>(vertex)];
    return Point{x[0], x[1], x[2]};
  };
  std::map<Point, std::int64_t> vertex_22;
  for (std::int64_t v = 0; v < mesh_22.num_vertices; ++v) vertex_22[position(mesh_22, v)] = v;
  auto renumbered = mesh_41;
  renumbered.coordinates = mesh_22.coordinates;
  for (auto& vertex : renumbered.cells) vertex = vertex_22.at(position(mesh_41, vertex));
  expect_equal(mesh_22, renumbered);
  EXPECT_EQ(mesh_22.num_vertices, 8);
  EXPECT_EQ(mesh_22.num_cells, 5);
  EXPECT_EQ(mesh_22.regions.size(), 3u);
}

TEST(GmshReader, ReadsEveryMesh) {
  DIFFSIM_SKIP_WITHOUT_MESHES();
  const auto directory = testing_data::meshes_folder();
  struct Size {
    const char* name;
    std::int64_t vertices, cells;
  };
  for (const Size& size : {Size{"Armadillo13K", 13230, 54985},
                           {"bar-2523", 886, 2523},
                           {"bunny", 4670, 19379},
                           {"cubes_v41", 7714, 32981},
                           {"link", 233, 673},
                           {"octocat", 6133, 21426},
                           {"screw", 1732, 6059},
                           {"sphere1K", 1760, 6851},
                           {"spike", 5, 2},
                           {"tet-corner", 4, 1},
                           {"wedge", 6, 3}}) {
    SCOPED_TRACE(size.name);
    const auto mesh = read_gmsh((directory / (std::string(size.name) + ".msh")).string());
    EXPECT_EQ(mesh.num_vertices, size.vertices);
    EXPECT_EQ(mesh.num_cells, size.cells);
    EXPECT_EQ(mesh.num_unused_vertices, 0);
    const bool has_groups = std::string(size.name) == "cubes_v41";
    EXPECT_EQ(mesh.regions.size(), has_groups ? 3u : 0u);
    EXPECT_EQ(mesh.cell_regions.size(), has_groups ? 32981u : 0u);
  }
}

// Files that are refused, and the locations that the messages state.

constexpr const char* text_22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"                             // line 1
    "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"         // line 4
    "$Elements\n2\n1 2 2 7 1 1 3 2\n2 4 2 5 1 1 2 3 4\n$EndElements\n";  // line 11
constexpr const char* text_41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"                                          // line 1
    "$Entities\n0 0 1 1\n3 0 0 0 1 1 1 1 7 0\n1 0 0 0 1 1 1 1 5 1 3\n$EndEntities\n"  // line 4
    "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"   // line 9
    "$Elements\n2 2 1 2\n2 3 2 1\n1 1 3 2\n3 1 4 1\n2 1 2 3 4\n$EndElements\n";       // line 21

/// One change to one of the texts above.
struct BadText {
  const char* base;
  const char* from;
  const char* to;
  long line;
  const char* message;
};

std::string changed(const BadText& bad) {
  std::string content = bad.base;
  const auto at = content.find(bad.from);
  EXPECT_NE(at, std::string::npos) << bad.from;
  EXPECT_EQ(content.find(bad.from, at + 1), std::string::npos) << bad.from << " is there twice";
  return content.replace(at, std::strlen(bad.from), bad.to);
}

/// Checks that each text is refused, with its message and its line.
void expect_refusals(const std::vector<BadText>& table) {
  for (const BadText& bad : table) {
    SCOPED_TRACE(std::string("`") + bad.from + "` became `" + bad.to + "`");
    expect_refused(changed(bad), bad.line, bad.message);
  }
}

TEST(GmshReader, ReadsTheTextsThatTheNextTestsSpoil) {
  EXPECT_EQ(parse_gmsh(text_22, "mesh.msh").face_regions.size(), 1u);
  EXPECT_EQ(parse_gmsh(text_41, "mesh.msh").face_regions.size(), 1u);
}

TEST(GmshReader, RefusesBadFormatsNamingTheirLine) {
  expect_refusals({
      {text_22, "2.2 0 8", "1.0 0 8", 2, "Gmsh format version '1.0' is not read; save the mesh as 2.2 or 4.1"},
      {text_41, "4.1 0 8", "4.0 0 8", 2, "Gmsh format version '4.0' is not read"},
      {text_41, "4.1 0 8", "nan 0 8", 2, "version"},
      {text_41, "4.1 0 8", "4.1 2 8", 2, "file type 2 does not exist"},
      {text_41, "4.1 0 8", "4.1 0 4", 2, "data size 4 is not read"},
      {text_41, "4.1 0 8", "4.1 0", 2, "the line ends before the data size"},
      {text_41, "4.1 0 8", "4.1 0 8 8", 2, "the line should end before '8'"},
      {text_41, "4.1 0 8", "4.1 1 8", 3, "byte-order mark"},
      {text_22, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "", 1, "$Nodes comes before $MeshFormat"},
      {text_22, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes",
       4, "a second $MeshFormat"},
  });
}

TEST(GmshReader, RefusesBadSectionsNamingTheirLine) {
  expect_refusals({
      {text_22, "$EndElements\n", "", 11, "section $Elements has no $EndElements; the file is cut short"},
      {text_22, "$EndNodes", "$EndNode", 4, "section $Nodes has no $EndNodes"},
      {text_22, "$Nodes\n4\n1 0", "$Points\n4\n1 0", 4, "section $Points has no $EndPoints"},
      {text_22, "$EndNodes\n", "$EndNodes\nhello world\n", 11, "expected a section ($Nodes, $Elements, …), found"},
      {text_22, "$EndNodes\n", "$EndNodes\n$EndNodes\n", 11, "'$EndNodes' does not begin a section"},
      {text_22, "$EndElements\n", "$EndElements\n$Nodes\n0\n$EndNodes\n", 16, "a second $Nodes"},
      {text_22, "$Elements\n2\n1 2 2 7 1 1 3 2\n2 4 2 5 1 1 2 3 4\n$EndElements\n", "", 1, "no $Elements section"},
  });
}

TEST(GmshReader, RefusesBadNamesNamingTheirLine) {
  expect_refusals({
      {text_22, "$Nodes", "$PhysicalNames\n1\n3 5 body\n$EndPhysicalNames\n$Nodes", 6, "in \"quotation marks\""},
      {text_22, "$Nodes", "$PhysicalNames\n2\n3 5 \"a\"\n$EndPhysicalNames\n$Nodes", 7, "ends after 1 of 2 names"},
      {text_22, "$Nodes", "$PhysicalNames\n2\n3 5 \"a\"\n3 6 \"a\"\n$EndPhysicalNames\n$Nodes", 7, "are called 'a'"},
      {text_22, "$Nodes", "$PhysicalNames\n2\n3 5 \"a\"\n3 5 \"b\"\n$EndPhysicalNames\n$Nodes", 7, "has two names"},
      {text_22, "$Nodes", "$PhysicalNames\n1\n4 5 \"a\"\n$EndPhysicalNames\n$Nodes", 6, "dimension 0 to 3"},
      {text_22, "$Nodes", "$PhysicalNames\n1\n3 0 \"a\"\n$EndPhysicalNames\n$Nodes", 6, "must be positive"},
      {text_22, "$Nodes", "$PhysicalNames\n1\n3 8 \"5\"\n$EndPhysicalNames\n$Nodes", 0, "are both called '5'"},
  });
}

TEST(GmshReader, RefusesBadEntitiesNamingTheirLine) {
  expect_refusals({
      {text_41, "0 0 1 1\n", "0 0 1 1000000000000000000\n", 5, "the count says 1000000000000000000 entities"},
      {text_41, "0 0 1 1\n", "0 0 1 2\n", 8, "ends after 1 of 2 entities"},
      {text_41, "1 1 1 1 7 0", "1 1 1 99 7 0", 6, "the count says 99 physical tags"},
      {text_41, "1 1 1 1 7 0", "1 1 1 1 -2147483648 0", 6, "the physical tag is out of range"},
      {text_41, "0 0 1 1\n3 0", "0 0 0 2\n1 0", 7, "a second entity of this dimension and tag"},
  });
}

TEST(GmshReader, RefusesBadNodesNamingTheirLine) {
  expect_refusals({
      {text_22, "$Nodes\n4\n", "$Nodes\n5\n", 10, "$Nodes ends after 4 of 5 nodes"},
      {text_22, "$Nodes\n4\n", "$Nodes\n3\n", 9, "more nodes than the count says, from '4'"},
      {text_22, "$Nodes\n4\n", "$Nodes\n1000000000000000000\n", 5, "the count says 1000000000000000000 nodes"},
      {text_22, "$Nodes\n4\n", "$Nodes\n99999999999999999999999\n", 5, "is too large or too small for its type"},
      {text_22, "$Nodes\n4\n", "$Nodes\n-4\n", 5, "must not be negative"},
      {text_22, "$Nodes\n4\n", "$Nodes\nfour\n", 5, "expected the number of nodes, found 'four'"},
      {text_22, "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "$Nodes\n", 5, "$Nodes ends before its count"},
      {text_22, "3 0 1 0", "3 0 nan 0", 8, "a coordinate is nan; it must be finite"},
      {text_22, "3 0 1 0", "3 0 -inf 0", 8, "a coordinate is -inf; it must be finite"},
      {text_22, "3 0 1 0", "3 0 1e999 0", 8, "a coordinate '1e999' is too large"},
      {text_22, "3 0 1 0", "3 0 1,5 0", 8, "expected a coordinate, found '1,5'"},
      {text_22, "3 0 1 0", "3 0 1", 8, "the line ends before a coordinate"},
      {text_22, "3 0 1 0", "3 0 1 0 0", 8, "the line should end before '0'"},
      {text_22, "3 0 1 0", "2 0 1 0", 8, "node 2 is given twice"},
      {text_22, "3 0 1 0", "0 0 1 0", 8, "node tag 0 is not positive"},
      {text_22, "3 0 1 0", "-3 0 1 0", 8, "node tag -3 is not positive"},
      {text_22, "3 0 1 0", "3000000000 0 1 0", 8, "a node tag '3000000000' is too large"},
      {text_22, "3 0 1 0", "3 0 0 0", 14, "cell 0 has zero volume"},
      {text_22, "3 0 1 0", "3 0 1 \x01\xff", 8, "found '\\x01\\xff'"},
  });
}

TEST(GmshReader, RefusesBadBlocksOfNodesNamingTheirLine) {
  expect_refusals({
      {text_41, "1 4 1 4", "1 5 1 4", 19, "the section's count says 5 nodes, but its blocks have 4"},
      {text_41, "1 4 1 4", "1 3 1 4", 11, "more nodes than the section's count, 3"},
      {text_41, "1 4 1 4", "2 4 1 4", 20, "$Nodes ends after 1 of 2 blocks"},
      {text_41, "3 1 0 4", "3 1 0 5", 11, "the blocks have more nodes than the section's count, 4"},
      {text_41, "1 4 1 4\n3 1 0 4", "1 5 1 4\n3 1 0 5", 16, "node tag 0 is not positive"},
      {text_41, "3 1 0 4", "3 1 0 1000000000000000000", 11, "the count says 1000000000000000000 nodes"},
      {text_41, "3 1 0 4", "3 1 2 4", 11, "the parametric mark is 0 or 1"},
      {text_41, "3 1 0 4", "3 1 1 4", 16, "the line ends before a parameter of the node"},
      {text_41, "3 1 0 4", "7 1 0 4", 11, "an entity has dimension 0 to 3"},
      {text_41, "\n3\n4\n", "\n3\n9000000000000000000\n", 26, "has node 4, which $Nodes does not"},
  });
}

TEST(GmshReader, RefusesBadElementsNamingTheirLine) {
  expect_refusals({
      {text_22, "$Elements\n2\n", "$Elements\n3\n", 15, "$Elements ends after 2 of 3 elements"},
      {text_22, "$Elements\n2\n", "$Elements\n1\n", 14, "more elements than the count says"},
      {text_22, "$Elements\n2\n", "$Elements\n1000000000000000000\n", 12, "the count says 1000000000000000000"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 1 2 3 5", 14, "the element has node 5, which $Nodes does not"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 1 2 3 -4", 14, "the element has node -4, which $Nodes does not"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 1 2 3 3", 14, "cell 0 has vertex 2 twice"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 2 1 3 4", 14, "cell 0 is inverted (volume -0.1667 m^3; 1 of 1"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 1 2 3", 14, "the line ends before a node of the element"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 5 1 1 2 3 4 4", 14, "the line should end before '4'"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2000000000 5 1 1 2 3 4", 14, "the line ends before a tag"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 -1 5 1 1 2 3 4", 14, "the number of tags must not be negative"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 4 2 -2147483648 1 1 2 3 4", 14, "the physical tag is out of range"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 5 2 5 1 1 2 3 4 1 2 3 4", 14, "element type 5 (8-node hexahedron) is not"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 6 2 5 1 1 2 3 4 1 2", 14, "6-node prism"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 7 2 5 1 1 2 3 4 1", 14, "5-node pyramid"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 11 2 5 1 1 2 3 4 1 2 3 4 1", 14, "the line ends before a node"},
      {text_22, "2\n1 2 2 7 1 1 3 2\n", "2\n1 11 2 5 1 1 2 3 4 1 2 3 4 1 2\n", 14, "tetrahedra of 10 and of 4 nodes"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 29 2 5 1 1 2", 14,
       "element type 29 (20-node tetrahedron) is of too high an order"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 77 2 5 1 1 2 3 4", 14, "element type 77 is not known"},
      {text_22, "2 4 2 5 1 1 2 3 4", "2 2 2 0 1 1 2 3", 0, "no tetrahedra, but 2 triangles; mesh the volume"},
      {text_22, "2\n1 2 2 7 1 1 3 2\n", "2\n1 4 2 5 1 1 2 3 4\n", 14, "cell 1 has the same vertices as cell 0"},
      {text_22, "2\n1 2 2 7 1 1 3 2\n", "2\n1 4 2 6 1 2 3 1 4\n", 14, "cell 1 has the same vertices as cell 0"},
      {text_22, "1 2 2 7 1 1 3 2", "1 3 2 7 1 1 3 2 4", 13, "a physical group has a 4-node quadrangle"},
      {text_22, "1 2 2 7 1 1 3 2", "1 2 2 7 1 1 3 3", 13, "this triangle of physical group '7' is not a face"},
  });
}

TEST(GmshReader, RefusesBadBlocksOfElementsNamingTheirLine) {
  expect_refusals({
      {text_41, "2 2 1 2", "2 3 1 2", 26, "the section's count says 3 elements, but its blocks have 2"},
      {text_41, "2 2 1 2", "2 1 1 2", 25, "more elements than the section's count, 1"},
      {text_41, "2 2 1 2", "1 2 1 2", 24, "but its blocks have 1"},
      {text_41, "3 1 4 1\n", "3 1 4 2\n", 25, "the blocks have more elements than the section's count, 2"},
      {text_41, "2 2 1 2\n2 3 2 1\n1 1 3 2\n3 1 4 1", "2 3 1 2\n2 3 2 1\n1 1 3 2\n3 1 4 2", 27,
       "ends after 1 of 2 elements"},
      {text_41, "3 1 4 1\n", "2 1 4 1\n", 25, "a tetrahedron does not belong to an entity of dimension 2"},
      {text_41, "3 1 4 1\n", "3 1 11 1\n", 26, "the line ends before a node of the element"},
      {text_41, "3 1 4 1\n", "3 1 4 1000000000000000000\n", 25, "the count says 1000000000000000000 elements"},
      {text_41, "2 1 2 3 4\n", "2 1 2 3 9\n", 26, "the element has node 9"},
      {text_41, "2 1 2 3 4\n", "2 1 2 3 -4\n", 26, "must not be negative"},
      {text_41, "2 1 2 3 4\n", "2 1 3 2 4\n", 26, "cell 0 is inverted"},
  });
}

TEST(GmshReader, AllowsAPartitionedMeshWithoutPartitions) {
  const BadText text{text_41, "$EndElements\n", "$EndElements\n$PartitionedEntities\n$EndPartitionedEntities\n", -1,
                     ""};
  EXPECT_NO_THROW(parse_gmsh(changed(text), "mesh.msh"));
}

TEST(GmshReader, RefusesGroupsOfAPartitionedMesh) {
  std::string content = text_41;
  content.replace(content.find("3 1 4 1"), 7, "3 8 4 1");
  EXPECT_NO_THROW(parse_gmsh(content, "mesh.msh"));
  expect_refused(content + "$PartitionedEntities\n$EndPartitionedEntities\n", 25,
                 "the physical groups of a partitioned mesh are not read");
}

TEST(GmshReader, RefusesATextCutAnywhere) {
  for (const std::string content : {text_22, text_41})
    for (std::size_t size = 0; size + 1 < content.size(); ++size)
      EXPECT_THROW(parse_gmsh(content.substr(0, size), "mesh.msh"), InputError) << size;
}

TEST(GmshReader, RefusesABinaryFileCutAnywhere) {
  for (const int version : {22, 41}) {
    auto sections =
        version == 22 ? Sample::sections_22(Encoding::little_endian) : Sample::sections_41(Encoding::little_endian);
    std::erase(sections, "$Periodic\n0\n$EndPeriodic\n");
    const std::string content = Sample::joined(sections);
    for (std::size_t size = 0; size + 1 < content.size(); ++size)
      EXPECT_THROW(parse_gmsh(content.substr(0, size), "mesh.msh"), InputError) << size;
  }
}

/// Messages about binary files: the line is that of the section's header, the byte is the position of the number.
TEST(GmshReader, NamesSectionAndByteInBinary) {
  for (const Encoding encoding : {Encoding::little_endian, Encoding::big_endian}) {
    std::string content = Sample::file(41, encoding);
    const auto nodes = content.find("$Nodes\n");
    const auto line = 1 + std::count(content.begin(), content.begin() + static_cast<long>(nodes), '\n');
    const auto count = nodes + 7 + 8;  // the number of nodes, after the number of blocks
    std::string absurd = content;
    absurd.replace(count, 8, "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f");
    expect_refused(absurd, line, "the count says 9187201950435737471 nodes");
    expect_refused(absurd, line, "(at byte " + std::to_string(count) + ")");
    absurd.replace(count, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
    expect_refused(absurd, line, "the number of nodes 18446744073709551615 is too large");

    std::string infinite = content;
    const auto x = nodes + 7 + 32 + 20 + 16;  // after the counts, the block's header and its two tags
    infinite.replace(x, 8,
                     encoding == Encoding::big_endian ? std::string("\x7f\xf0\0\0\0\0\0\0", 8)
                                                      : std::string("\0\0\0\0\0\0\xf0\x7f", 8));
    expect_refused(infinite, line, "a coordinate is inf; it must be finite (at byte " + std::to_string(x) + ")");
  }
}

TEST(GmshReader, RefusesForeignFilesByName) {
  using namespace std::string_literals;
  expect_refused("", 1, "the file is empty");
  expect_refused(" \n\n", 1, "the file is empty");
  expect_refused("# vtk DataFile Version 3.0\n", 1, "it looks like a legacy VTK file");
  expect_refused("solid cube\n", 1, "it looks like an STL file");
  expect_refused("\x89HDF\r\n\x1a\n", 1, "it looks like an HDF5 file");
  expect_refused("\x1f\x8b\x08", 1, "compressed by gzip");
  expect_refused("$NOD\n4\n", 1, "a Gmsh 1.0 file");
  expect_refused("hello\x01", 1, "it begins with 'hello\\x01', not with $MeshFormat");
  expect_refused("\0\0\0\0"s, 1, "not a Gmsh mesh");
  expect_refused("$Comments\n$EndComments\n", 1, "no $MeshFormat section");
}

TEST(GmshReader, RefusesPathsThatAreNotReadableFiles) {
  const auto expect_path_error = [](const std::string& path, const std::string& message) {
    try {
      read_gmsh(path);
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path + ": " + message, 0), 0u) << error.what();
    }
  };
  expect_path_error("no/such.msh", "no such file");
  expect_path_error(std::filesystem::temp_directory_path().string(), "is a directory");
  expect_path_error("/dev/null", "is not a regular file");

  const auto path =
      std::filesystem::temp_directory_path() / ("diffsim_unreadable_" + std::to_string(getpid()) + ".msh");
  std::ofstream(path) << text_22;
  EXPECT_EQ(read_gmsh(path.string()).num_cells, 1);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (!std::ifstream(path)) expect_path_error(path.string(), "cannot be opened (Permission denied)");
  std::filesystem::remove(path);
}

TEST(GmshReader, RefusesCoincidentVerticesUnlessAllowed) {
  // A second tetrahedron with a duplicate corner.
  const std::string content =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
      "5 -0 0 0\n6 -1 0 0\n7 0 -1 0\n8 0 0 1.5\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 5 6 7 8\n$EndElements\n";
  expect_refused(content, 10, "vertex 4 is at the same position as vertex 0");
  EXPECT_EQ(parse_gmsh(content, "mesh.msh", 1.0, true).num_cells, 2);
}

}  // namespace
}  // namespace diffsim::gmsh_reader_test
