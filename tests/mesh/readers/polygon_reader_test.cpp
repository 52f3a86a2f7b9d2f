// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/polygon_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>

#include "diffsim/core/error.hpp"

namespace diffsim::polygon_reader_test {
namespace {

/// Returns the volume enclosed by closed triangles, m³.
double volume(const TriangleMesh& mesh) {
  double sum = 0.0;
  for (const auto& t : mesh.triangles) {
    const auto &a = mesh.vertices[static_cast<std::size_t>(t[0])], &b = mesh.vertices[static_cast<std::size_t>(t[1])],
               &c = mesh.vertices[static_cast<std::size_t>(t[2])];
    sum +=
        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) /
        6.0;
  }
  return sum;
}

std::string write(const std::string& name, const std::string& text) {
  std::ofstream(name, std::ios::binary) << text;
  return name;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}
std::string read_error(const std::string& name, const std::string& text) {
  return error_of([&] { read_polygons(write(name, text)); });
}

constexpr float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr int facets[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

TEST(polygon_reader, obj_with_polygons_and_negative_numbers) {
  const TriangleMesh mesh = read_triangles(
      write("a.obj",
            "# a pyramid\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\nvn 0 0 1\nf 4/1/1 3 2 1\nf 1 2 5\n"
            "f 2 3 5\nf 3 4 -1\nf 4 1 5\n"),
      2.0);
  EXPECT_EQ(mesh.vertices.size(), 5u);
  EXPECT_EQ(mesh.triangles.size(), 6u);
  EXPECT_NEAR(volume(mesh), 8.0 / 3.0, 1e-12);
}

TEST(polygon_reader, obj_keeps_the_order_of_vertices_and_reads_polylines) {
  const std::string file = write("lines.obj", "v 3 0 0\nv 2 0 0\nv 1 0 0\nv 0 0 0\nl 4 3 2\nl 2 1\n");
  const PolygonFile contents = read_polygons(file);
  EXPECT_EQ(contents.surface.vertices[0][0], 3.0);
  const std::vector<std::array<int, 2>> expected{{3, 2}, {2, 1}, {1, 0}};
  EXPECT_EQ(contents.segments, expected);
  const MeshData mesh = read_polygon_mesh(file, CellKind::segment, 0.5);
  EXPECT_EQ(mesh.kind(), CellKind::segment);
  EXPECT_EQ(mesh.num_of(CellKind::segment), 3);
  EXPECT_EQ(mesh.lower(CellKind::segment).nodes, (std::vector<std::int64_t>{3, 2, 2, 1, 1, 0}));
  EXPECT_EQ(mesh.coordinates[0], 1.5);
  EXPECT_EQ(read_polygon_mesh(file, CellKind::point).num_of(CellKind::point), 4);
}

TEST(polygon_reader, stl_in_both_forms) {
  std::string ascii = "solid tet\n", binary(80, ' ');
  binary.replace(0, 5, "solid");  // some programs begin binary files with this word
  const std::uint32_t count = 4;
  binary.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& facet : facets) {
    ascii += "facet normal 0 0 0\n outer loop\n";
    binary.append(12, '\0');
    for (const int v : facet) {
      ascii += "  vertex " + std::to_string(corners[v][0]) + " " + std::to_string(corners[v][1]) + " " +
               std::to_string(corners[v][2]) + "\n";
      binary.append(reinterpret_cast<const char*>(corners[v]), 12);
    }
    ascii += " endloop\nendfacet\n";
    binary.append(2, '\0');
  }
  for (const auto& file : {write("a.stl", ascii + "endsolid\n"), write("b.STL", binary)}) {
    const TriangleMesh mesh = read_triangles(file);
    EXPECT_EQ(mesh.vertices.size(), 4u);
    EXPECT_NEAR(volume(mesh), 1.0 / 6.0, 1e-7);
  }
  EXPECT_NE(error_of([&] { read_triangles(write("cut.stl", binary.substr(0, 200))); }).find("has no triangles"),
            std::string::npos);
}

/// Returns the tetrahedron as PLY, with additional properties and elements that the reader skips.
std::string ply(const std::string& format) {
  std::string text = "ply\nformat " + format +
                     " 1.0\ncomment made here\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                     "property uchar red\nelement stamp 1\nproperty list ushort int marks\nelement face 4\n"
                     "property list uchar int vertex_indices\nproperty double quality\nelement edge 1\n"
                     "property int vertex1\nproperty int vertex2\nend_header\n";
  const bool ascii = format == "ascii", big = format == "binary_big_endian";
  const auto add = [&](auto value, const char* end = " ") {
    if (ascii) {
      text += std::to_string(value) + end;
      return;
    }
    char bytes[sizeof(value)];
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof(value), bytes);
    if (big) std::reverse(bytes, bytes + sizeof(value));
    text.append(bytes, sizeof(value));
  };
  for (const auto& x : corners) {
    for (const float value : x) add(value);
    add(std::uint8_t{200}, "\n");
  }
  add(std::uint16_t{2});
  add(std::int32_t{7});
  add(std::int32_t{8}, "\n");
  for (const auto& facet : facets) {
    add(std::uint8_t{3});
    for (const int v : facet) add(std::int32_t{v});
    add(0.5, "\n");
  }
  add(std::int32_t{1});
  add(std::int32_t{3}, "\n");
  return text;
}

TEST(polygon_reader, ply_in_all_forms) {
  for (const std::string format : {"ascii", "binary_little_endian", "binary_big_endian"}) {
    const std::string file = write("a.ply", ply(format));
    const TriangleMesh mesh = read_triangles(file);
    EXPECT_EQ(mesh.vertices.size(), 4u) << format;
    EXPECT_NEAR(volume(mesh), 1.0 / 6.0, 1e-12) << format;
    EXPECT_EQ(read_polygon_mesh(file, CellKind::segment).lower(CellKind::segment).nodes,
              (std::vector<std::int64_t>{1, 3}));
    // A truncated file is refused, wherever it ends.
    const std::string whole = ply(format);
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7)
      EXPECT_NE(read_error("cut.ply", whole.substr(0, size)), "no error") << format << ", " << size << " bytes";
  }
}

TEST(polygon_reader, errors_name_file_and_line) {
  EXPECT_EQ(error_of([] { read_polygons("none.obj"); }), "none.obj: cannot be read; check path and permissions");
  EXPECT_EQ(read_error("a.off", "OFF\n"), "a.off: is neither .stl, .obj nor .ply; convert it to one of them");
  EXPECT_EQ(read_error("b.obj", "v 0 0 0\nv 1 0\n"), "b.obj:2: a vertex needs three numbers");
  EXPECT_EQ(read_error("c.obj", "v 0 0 0\nf 1 2 3\n"), "c.obj:2: there is no vertex 2 before this line");
  EXPECT_EQ(read_error("d.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
            "d.obj:4: triangle 0 (0-based) has no area; remove it");
  EXPECT_EQ(read_error("f.obj", "v 0 0 0\nf 1 x 1\n"),
            "f.obj:2: 'x' is not a vertex number; give the number of a vertex");
  EXPECT_EQ(read_error("f.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n"), "f.obj:3: a face needs at least 3 vertices, and has 2");
  EXPECT_EQ(read_error("g.stl", "nothing"), "g.stl: is not an STL file, or is truncated; write the file again");
  EXPECT_EQ(read_error("a.ply", "plywood\n"), "a.ply:1: is not a PLY file: it does not begin with `ply`");
  const std::string head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n";
  EXPECT_EQ(read_error("b.ply", head + "end_header\n0 0\n"), "b.ply:7: a coordinate is not finite; give numbers");
  EXPECT_EQ(read_error("c.ply", head + "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                                       "end_header\n0 0 0\n3 0 0 7\n"),
            "c.ply:11: a face has vertex 7 (0-based), and there are 1");
  EXPECT_EQ(read_error("d.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\n"),
            "d.ply:4: 'real' is not a number type; use float, double, int, uchar, …");
}

TEST(polygon_reader, a_mesh_says_which_cells_the_file_has) {
  const auto mesh_error = [](const std::string& text, CellKind kind) {
    return error_of([&] { read_polygon_mesh(write("a.obj", text), kind); });
  };
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\n";
  EXPECT_EQ(mesh_error(vertices + "f 1 2 3\n", CellKind::segment), "a.obj: has no segments, but 1 triangles");
  EXPECT_EQ(mesh_error(vertices + "f 1 2 3\n", CellKind::tetrahedron), "a.obj: has no tetrahedra, but 1 triangles");
  EXPECT_EQ(mesh_error(vertices, CellKind::triangle), "a.obj: has no triangles, but 4 vertices only");
  EXPECT_EQ(mesh_error(vertices + "l 1 4\n", CellKind::segment),
            "a.obj: segment 0 has no length; remove it, or move its vertices apart");
  EXPECT_EQ(mesh_error(vertices + "f 1 2 3\nf 2 3 4\n", CellKind::triangle),
            "a.obj: vertex 3 is at the same position as vertex 0 (0, 0, 0); merge the two (in Gmsh: `Coherence Mesh`)");
  EXPECT_EQ(mesh_error(vertices + "f 1 2 3\nf 2 3 1\n", CellKind::triangle),
            "a.obj: triangle 1 has the same vertices as triangle 0; remove one of the two");
  const MeshData mesh = read_polygon_mesh(write("a.obj", vertices + "f 1 2 3\n"), CellKind::triangle);
  EXPECT_EQ(mesh.num_unused_vertices, 1);
  EXPECT_EQ(read_triangles("a.obj").vertices.size(), 3u);  // vertices at equal positions are merged
}

}  // namespace
}  // namespace diffsim::polygon_reader_test
