// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "mesh/readers/vtu_reader.hpp"
#include "mesh/readers/vtu_samples.hpp"

namespace diffsim::vtu_reader_test {
namespace {

using testing_mesh::VtuForm;
using testing_mesh::VtuWriter;
using Numbers = std::vector<std::int64_t>;

std::string text_of(const VtuForm& form) {
  return "format " + std::to_string(static_cast<int>(form.format)) + (form.zlib ? " zlib" : "") + " header " +
         std::to_string(form.header_bytes) + (form.big_endian ? " big endian " : " little endian ") + form.reals + " " +
         form.integers;
}

TEST(VtuReader, ReadsEveryEncoding) {
  for (const VtuForm& form : testing_mesh::all_vtu_forms()) {
    SCOPED_TRACE(text_of(form));
    const MeshData mesh = parse_vtu(testing_mesh::two_cells_file(form), "a.vtu");
    EXPECT_EQ(mesh.coordinates, testing_mesh::two_cells_points);
    EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 4, 2, 3}));
    EXPECT_EQ(mesh.num_cells, 2);
    ASSERT_EQ(mesh.regions.size(), 2u);
    EXPECT_EQ(mesh.regions[0].name, "3");
    EXPECT_EQ(mesh.regions[1].name, "7");
    EXPECT_EQ(mesh.regions[1].tag, 7);
    EXPECT_EQ(mesh.regions[1].dimension, 3);
    ASSERT_EQ(mesh.cell_regions.size(), 2u);
    EXPECT_EQ(mesh.cell_regions[1].cell, 1);
    EXPECT_EQ(mesh.cell_regions[1].region, 1);
  }
}

TEST(VtuReader, ReadsWhatMeshioWrites) {
  const std::string meshio =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\" "
      "compressor=\"vtkZLibDataCompressor\">\n<!--This file was created by meshio v5.0.0-->\n<UnstructuredGrid>\n"
      "<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<Points>\n"
      "<DataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\" format=\"binary\">\n"
      "AQAAAACAAAB4AAAAFAAAAA==eJxjYMAHPtjjlSZaHpMGAPByBxs=\n</DataArray>\n</Points>\n<Cells>\n"
      "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"binary\">\n"
      "AQAAAACAAABAAAAAFgAAAA==eJxjYIAARijNBKWZCYizQGkAAfAAEQ==\n</DataArray>\n"
      "<DataArray type=\"Int64\" Name=\"offsets\" format=\"binary\">\n"
      "AQAAAACAAAAQAAAADgAAAA==eJxjYYAADigNAACQAA0=\n</DataArray>\n"
      "<DataArray type=\"Int64\" Name=\"types\" format=\"binary\">\n"
      "AQAAAACAAAAQAAAADgAAAA==eJzjYoAALigNAAEAABU=\n</DataArray>\n</Cells>\n<PointData>\n"
      "<DataArray type=\"Int64\" Name=\"foot\" format=\"binary\">\n"
      "AQAAAACAAAAoAAAADgAAAA==eJxjYMAO/qMBAIegD/E=\n</DataArray>\n</PointData>\n<CellData>\n"
      "<DataArray type=\"Int64\" Name=\"left-right\" format=\"binary\">\n"
      "AQAAAACAAAAQAAAADgAAAA==eJxjYIAARigNAAAYAAI=\n</DataArray>\n</CellData>\n</Piece>\n</UnstructuredGrid>\n"
      "</VTKFile>\n";
  const MeshData mesh = parse_vtu(meshio, "a.vtu");
  EXPECT_EQ(mesh.coordinates, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 2, 3, 4}));
  ASSERT_EQ(mesh.regions.size(), 4u);
  EXPECT_EQ(mesh.regions[0].name, "left-right=0");
  EXPECT_EQ(mesh.regions[1].name, "left-right=1");
  EXPECT_EQ(mesh.regions[2].name, "foot=-1");
  EXPECT_EQ(mesh.regions[3].name, "foot=0");
  EXPECT_EQ(mesh.regions[3].dimension, 0);
  Numbers foot;
  for (const auto& entry : mesh.vertex_regions)
    if (entry.region == 3) foot.push_back(entry.vertex);
  EXPECT_EQ(foot, (Numbers{0, 1, 2}));
}

/// Returns a file with a tetrahedron of ten nodes, one edge of which is curved.
std::string quadratic_file(int type) {
  VtuWriter writer({});
  const std::vector<double> points = {0,  0,  0,  1, 0,  0, 0, 1, 0,  0,  0, 1,  .5, 0,  0,
                                      .5, .5, .1, 0, .5, 0, 0, 0, .5, .5, 0, .5, 0,  .5, .5};
  return writer.file(writer.piece(points, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 2, 1, 6, 5, 4}},
                                  {type, type == 71 ? 69 : 22}, writer.array("CellEntityIds", "Int32", {4, 5})));
}

TEST(VtuReader, KeepsNodesOnEdges) {
  for (const int type : {24, 71}) {
    const MeshData mesh = parse_vtu(quadratic_file(type), "a.vtu", 2.0, false, 2);
    EXPECT_EQ(mesh.order, 2);
    EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(mesh.coordinates[17], 0.2);
    ASSERT_EQ(mesh.face_regions.size(), 1u);
    EXPECT_EQ(mesh.face_regions[0].face, 3);
    const MeshData corners = parse_vtu(quadratic_file(type), "a.vtu");
    EXPECT_EQ(corners.order, 1);
    EXPECT_EQ(corners.cells, (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(corners.num_unused_vertices, 6);
  }
}

TEST(VtuReader, KeepsNoNodesOnEdgesOfLinearCells) {
  VtuWriter writer({});
  const std::string region = writer.array("region", "Int32", {1, 2});
  std::vector<double> points = testing_mesh::two_cells_points;
  points.insert(points.end(), {0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0});
  const MeshData mesh = parse_vtu(
      writer.file(writer.piece(points, {{0, 2, 1, 7, 6, 5}, {0, 1, 2, 3}}, {22, 10}, region)), "a.vtu", 1.0, false, 2);
  EXPECT_EQ(mesh.order, 1);
  ASSERT_EQ(mesh.face_regions.size(), 1u);
  EXPECT_EQ(mesh.face_regions[0].face, 3);
}

/// Returns a file with cells of every kind, each in a region.
std::string mixed_file() {
  VtuWriter writer({});
  return writer.file(writer.piece(testing_mesh::two_cells_points,
                                  {{0, 1, 2, 3}, {0, 1, 2}, {1, 2, 3}, {0, 1}, {1, 2, 4}, {4}, {0, 3}},
                                  {10, 5, 5, 3, 4, 1, 2},
                                  writer.array("gmsh:physical", "Int32", {1, 2, 2, 5, 6, 8, 9}) +
                                      writer.array("vtkOriginalCellIds", "Int32", {0, 1, 2, 3, 4, 5, 6}),
                                  writer.array("side", "Int8", {0, 0, 0, 1, 1})));
}

TEST(VtuReader, ReadsCellsOfOneKind) {
  const MeshData solid = parse_vtu(mixed_file(), "a.vtu", 1.0, false, 1, CellKind::tetrahedron);
  EXPECT_EQ(solid.num_cells, 1);
  ASSERT_EQ(solid.face_regions.size(), 2u);
  EXPECT_EQ(solid.face_regions[0].face, 0);
  EXPECT_EQ(solid.face_regions[1].face, 3);
  std::vector<std::string> names;
  for (const RegionInfo& region : solid.regions) names.push_back(region.name);
  EXPECT_EQ(names, (std::vector<std::string>{"1", "2", "5", "6", "side=0", "side=1", "8", "9"}));
  // Vertices 0 1 of region 5; 1 2 4 of region 6; 4 of region 8; 0 3 of region 9; and five of `side`.
  EXPECT_EQ(solid.vertex_regions.size(), 2u + 3u + 1u + 2u + 5u);

  const MeshData triangles = parse_vtu(mixed_file(), "a.vtu", 1.0, false, 1, CellKind::triangle);
  EXPECT_EQ(triangles.lower(CellKind::triangle).nodes, (Numbers{0, 1, 2, 1, 2, 3}));
  EXPECT_EQ(triangles.lower(CellKind::triangle).regions.size(), 2u);
  EXPECT_EQ(triangles.num_cells, 0);
  const MeshData segments = parse_vtu(mixed_file(), "a.vtu", 1.0, false, 1, CellKind::segment);
  EXPECT_EQ(segments.lower(CellKind::segment).nodes, (Numbers{0, 1, 1, 2, 2, 4}));
  const MeshData points = parse_vtu(mixed_file(), "a.vtu", 1.0, false, 1, CellKind::point);
  EXPECT_EQ(points.lower(CellKind::point).nodes, (Numbers{4, 0, 3}));
}

TEST(VtuReader, JoinsPieces) {
  VtuWriter writer({VtuForm::Format::appended_raw, true, 8, true});
  const std::vector<double> far = {5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
  const std::string regions = writer.array("MaterialIds", "Int32", {9});
  const MeshData mesh =
      parse_vtu(writer.file(writer.piece(testing_mesh::two_cells_points, {{0, 1, 2, 3}, {1, 4, 2, 3}}, {10, 10}) +
                            writer.piece({}, {}, {}) + writer.piece(far, {{0, 1, 2, 3}}, {10}, regions)),
                "a.vtu");
  EXPECT_EQ(mesh.num_vertices, 9);
  EXPECT_EQ(mesh.cells, (Numbers{0, 1, 2, 3, 1, 4, 2, 3, 5, 6, 7, 8}));
  ASSERT_EQ(mesh.cell_regions.size(), 1u);
  EXPECT_EQ(mesh.cell_regions[0].cell, 2);
  EXPECT_EQ(mesh.regions[0].name, "MaterialIds=9");
}

TEST(VtuReader, ReadsOneLongArrayAcrossBlocks) {
  // 9000 points in a row, which need several compressed blocks and base64 data with padding inside.
  std::vector<double> points = testing_mesh::two_cells_points;
  for (int i = 0; i < 9000; ++i) points.insert(points.end(), {2.0 + i / 7.0, 0.0, 0.0});
  for (const std::size_t block : {std::size_t{1000}, std::size_t{32768}})
    for (const auto format : {VtuForm::Format::binary, VtuForm::Format::appended_base64}) {
      VtuForm form{format, true};
      form.block_size = block;
      VtuWriter writer(form);
      const MeshData mesh = parse_vtu(writer.file(writer.piece(points, {{0, 1, 2, 3}}, {10})), "a.vtu");
      EXPECT_EQ(mesh.coordinates, points);
      EXPECT_EQ(mesh.num_unused_vertices, 9001);
    }
}

std::string error_of(const std::string& content, int order = 1, CellKind kind = CellKind::tetrahedron) {
  try {
    parse_vtu(content, "a.vtu", 1.0, false, order, kind);
  } catch (const InputError& error) {
    return error.what();
  }
  return "was read";
}

std::string with(std::string text, const std::string& what, const std::string& other) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), other);
}

std::string one_cell_file(const std::vector<int>& cell, int type) {
  VtuWriter writer({});
  std::vector<double> points = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
  return writer.file(writer.piece(points, {cell}, {type}));
}

TEST(VtuReader, SaysWhatIsWrongAndWhere) {
  const std::string text = testing_mesh::two_cells_file({});
  const auto refused = [](const std::string& content, const std::string& message) {
    EXPECT_EQ(error_of(content).substr(0, message.size()), message);
  };
  refused("", "a.vtu: is not XML, or is truncated (XML_ERROR_EMPTY_DOCUMENT)");
  refused(text.substr(0, 300), "a.vtu:");
  refused("<grid/>", "a.vtu: is not a file in VTK's XML format");
  refused(with(text, "type=\"UnstructuredGrid\"", "type=\"PolyData\""), "a.vtu:2: is of type 'PolyData'; give");
  refused(with(text, "LittleEndian", "MiddleEndian"), "a.vtu:2: byte_order is 'MiddleEndian'");
  refused(with(text, "UInt32", "UInt16"), "a.vtu:2: header_type is 'UInt16'");
  refused(with(text, "header_type", "compressor=\"vtkLZ4DataCompressor\" header_type"),
          "a.vtu:2: is compressed by 'vtkLZ4DataCompressor'; save it with ZLib or without compression");
  refused(with(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"-5\""), "a.vtu:4: NumberOfPoints is '-5'");
  refused(with(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"6\""),
          "a.vtu:10: array 'Points': has 15 numbers, and should have 18");
  refused(with(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"4\""),
          "a.vtu:10: array 'Points': has more than 12 numbers");
  refused(with(text, "1.5\n", "1.5m\n"), "a.vtu:10: array 'Points': '1.5m' is not a number of type Float64");
  refused(with(text, "1.5\n", "nan\n"), "a.vtu:10: array 'Points': a coordinate is not finite");
  refused(with(text, "\"connectivity\"", "\"nodes\""), "a.vtu:28: Cells has no array connectivity");
  refused(with(text, "Float64", "Double"), "a.vtu:10: array 'Points': its type 'Double' is not a number type");
  refused(with(text, "4\n8\n", "4\n3\n"), "a.vtu:38: array 'offsets': falls at cell 1");
  refused(with(text, "1\n4\n2\n3\n", "1\n5\n2\n3\n"),
          "a.vtu:28: array 'connectivity': has point 5, and there are 5 of them, counted from 0");
  refused(with(text, "1\n4\n2\n3\n", "1\n2\n4\n3\n"), "a.vtu: cell 1 is inverted");
  EXPECT_NE(error_of(with(text, "1\n4\n2\n3\n", "1\n2\n4\n3\n")).find("(cell 1 of the file)"), std::string::npos);

  refused(one_cell_file({0, 1, 2, 3, 4, 5, 6, 7}, 12),
          "a.vtu: a hexahedron is among the cells, where all must be tetrahedra; save the mesh with these only (in "
          "ParaView: the filter Tetrahedralize) (cell 0 of the file)");
  refused(one_cell_file({0, 1, 2, 3, 4}, 41),
          "a.vtu: a convex point set is among the cells, where all must be tetrahedra");
  refused(one_cell_file({0, 1, 3}, 10), "a.vtu: a tetrahedron has 3 points, and should have 4");
  refused(one_cell_file({0, 1, 3}, 99), "a.vtu: VTK's cell type 99 is not known (cell 0 of the file)");
  refused(one_cell_file({0, 1, 3}, 5), "a.vtu: no tetrahedra, but 1 triangles; save a mesh of the volume");
  EXPECT_EQ(error_of(one_cell_file({0, 1, 3, 4}, 10), 1, CellKind::segment),
            "a.vtu: no segments, but 1 tetrahedra; save a mesh with segments");
  EXPECT_EQ(error_of(one_cell_file({0, 1, 2, 3}, 9), 1, CellKind::triangle),
            "a.vtu: a quadrilateral is among the cells, where all must be triangles; save the mesh with these only (in "
            "ParaView: the filter Triangulate) (cell 0 of the file)");
}

TEST(VtuReader, RefusesCellsOfTwoOrders) {
  VtuWriter writer({});
  std::vector<double> points = {0, 0, 0,  1, 0, 0, 0,  1,  0, 0,  0, 1,  .5, 0, 0, .5, .5,
                                0, 0, .5, 0, 0, 0, .5, .5, 0, .5, 0, .5, .5, 0, 0, -1};
  const std::string text = writer.file(writer.piece(points, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 2, 1, 10}}, {24, 10}));
  EXPECT_EQ(error_of(text, 2),
            "a.vtu: a tetrahedron has 4 nodes, and others have 10; save the mesh in one order (cell 1 of the file)");
  EXPECT_EQ(error_of(text, 1), "was read");
}

TEST(VtuReader, TakesNoMemoryForWhatTheFileCannotHold) {
  // A block of 16 bytes claims to contain 2.4 GB.
  VtuForm form{VtuForm::Format::binary, true, 8};
  std::string bytes;
  for (const std::uint64_t number : {1ull, 2400000000ull, 0ull, 16ull})
    bytes += std::string(reinterpret_cast<const char*>(&number), 8);
  const std::string data = testing_mesh::base64(bytes) + testing_mesh::base64(std::string(16, 'x'));
  const std::string array =
      "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"binary\">" + data + "</DataArray>";
  const std::string text = VtuWriter(form).file("<Piece NumberOfPoints=\"100000000\" NumberOfCells=\"0\"><Points>" +
                                                array + "</Points></Piece>");
  EXPECT_EQ(error_of(text), "a.vtu:4: array 'Points': a compressed block cannot be so short; save the file again");
}

TEST(VtuReader, RefusesDamagedBinaryData) {
  const auto refused = [](const std::string& content, const std::string& message) {
    EXPECT_NE(error_of(content).find(message), std::string::npos) << error_of(content);
  };
  const std::string plain = testing_mesh::two_cells_file({VtuForm::Format::binary, false, 4, false}),
                    raw = testing_mesh::two_cells_file({VtuForm::Format::appended_raw, true, 4, false});
  refused(with(plain, "eAAAAA", "eAAAA?"), "'?' does not belong into base64");
  refused(with(plain, "eAAAAA", "eQAAAA"), "array 'Points': has 121 bytes, and should have 120, for 15 numbers");
  refused(raw.substr(0, raw.find("AppendedData encoding") - 1) + "</VTKFile>",
          "is appended, and the file has no Append");
  refused(with(raw, "offset=\"0\"", "offset=\"90000\""), "begins at byte 90000 of the appended data");
  refused(raw.substr(0, raw.size() - 30), "array 'types'");
  refused(with(raw, std::string("\x78\x9c", 2), std::string("\x78\x9d", 2)), "zlib cannot unpack a block");
}

TEST(VtuReader, AnyDamageIsAnErrorOrAMesh) {
  std::mt19937 random(5);
  using Format = VtuForm::Format;
  for (const Format format : {Format::ascii, Format::binary, Format::appended_raw, Format::appended_base64})
    for (const bool zlib : {false, true}) {
      const std::string good = testing_mesh::two_cells_file({format, zlib, 8, false});
      int refused = 0;
      for (int trial = 0; trial < 1500; ++trial) {
        std::string bad = good;
        for (int change = 0; change < 1 + trial % 3; ++change)
          bad[random() % bad.size()] = static_cast<char>(random() % 256);
        if (trial % 10 == 0) bad.resize(random() % bad.size());
        refused += error_of(bad, 1 + trial % 2) != "was read" ? 1 : 0;
      }
      EXPECT_GT(refused, 300);
    }
}

}  // namespace
}  // namespace diffsim::vtu_reader_test
