// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/obstacles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "diffsim/core/error.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim::contact {
namespace {

/// Volume enclosed, normals outwards; every edge must have two triangles.
double volume(const TriangleMesh& mesh) {
  const Surface surface = triangle_surface(mesh, 0);
  for (const SurfaceTriangle& triangle : surface.triangles)
    for (const double weight : triangle.edge_weights) EXPECT_EQ(weight, -0.5);
  double sum = 0.0;
  for (const auto& t : mesh.triangles) {
    Vec3<double> x[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& p = mesh.vertices[static_cast<std::size_t>(t[k])];
      x[k] = {{p[0], p[1], p[2]}};
    }
    sum += dot(x[0], cross(x[1], x[2])) / 6.0;
  }
  return sum;
}

TEST(obstacles, shapes_are_closed_and_turned_outwards) {
  EXPECT_NEAR(volume(box_triangles({1, 2, 3}, {2, 4, 6})), 6.0, 1e-12);
  const double ball = volume(sphere_triangles({1, 2, 3}, 0.5));
  EXPECT_LT(ball, 0.125 * M_PI * 4.0 / 3.0);
  EXPECT_GT(ball, 0.125 * M_PI * 4.0 / 3.0 * 0.995);
  const double rod = volume(cylinder_triangles({1, 2, 3}, {2, 3, 4}, 0.5));
  EXPECT_LT(rod, 0.25 * M_PI * std::sqrt(3.0));
  EXPECT_GT(rod, 0.25 * M_PI * std::sqrt(3.0) * 0.998);
}

class Files : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(name, std::ios::binary) << text;
    return name;
  }
  std::string fault(const std::string& file) {
    try {
      read_triangles(file);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Files, obj_with_polygons_and_negative_numbers) {
  const TriangleMesh mesh = read_triangles(
      write("a.obj",
            "# a pyramid\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\nvn 0 0 1\nf 4/1/1 3 2 1\nf 1 2 5\n"
            "f 2 3 5\nf 3 4 -1\nf 4 1 5\n"),
      2.0);
  EXPECT_EQ(mesh.vertices.size(), 5u);
  EXPECT_EQ(mesh.triangles.size(), 6u);
  EXPECT_NEAR(volume(mesh), 8.0 / 3.0, 1e-12);
}

TEST_F(Files, stl_in_both_forms) {
  std::string ascii = "solid tet\n", binary(80, ' ');
  binary.replace(0, 5, "solid");  // as some programs write
  const float x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::uint32_t count = 4;
  binary.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& t : {std::array{0, 2, 1}, std::array{0, 1, 3}, std::array{1, 2, 3}, std::array{0, 3, 2}}) {
    ascii += "facet normal 0 0 0\n outer loop\n";
    binary.append(12, '\0');
    for (const int v : t) {
      ascii +=
          "  vertex " + std::to_string(x[v][0]) + " " + std::to_string(x[v][1]) + " " + std::to_string(x[v][2]) + "\n";
      binary.append(reinterpret_cast<const char*>(x[v]), 12);
    }
    ascii += " endloop\nendfacet\n";
    binary.append(2, '\0');
  }
  for (const auto& file : {write("a.stl", ascii + "endsolid\n"), write("b.STL", binary)}) {
    const TriangleMesh mesh = read_triangles(file);
    EXPECT_EQ(mesh.vertices.size(), 4u);
    EXPECT_NEAR(volume(mesh), 1.0 / 6.0, 1e-7);
  }
  EXPECT_NE(fault(write("cut.stl", binary.substr(0, 200))).find("no triangles"), std::string::npos);
}

TEST_F(Files, faults_are_told_with_their_line) {
  EXPECT_EQ(fault("none.obj"), "none.obj: cannot be read; check path and permissions");
  EXPECT_EQ(fault(write("a.ply", "ply\n")), "a.ply: is neither .stl nor .obj; convert it to one of them");
  EXPECT_EQ(fault(write("b.obj", "v 0 0 0\nv 1 0\n")), "b.obj:2: a vertex needs three numbers");
  EXPECT_EQ(fault(write("c.obj", "v 0 0 0\nf 1 2 3\n")), "c.obj:2: there is no vertex 2 before this line");
  EXPECT_EQ(fault(write("d.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")),
            "d.obj:4: triangle 0 (0-based) has no area; remove it");
  EXPECT_EQ(fault(write("e.obj", "v 0 0 0\n")), "e.obj: has no triangles; give faces, lines `f 1 2 3`");
  EXPECT_EQ(fault(write("f.obj", "v 0 0 0\nf 1 x 1\n")), "f.obj:2: 'x' is no vertex; give its number");
  EXPECT_EQ(fault(write("g.stl", "nothing")), "g.stl: is no STL file, or not all of it; write it again");
}

}  // namespace
}  // namespace diffsim::contact
