// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gmsh files whose triangles, lines or points are the cells.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/gmsh_reader.hpp"

namespace diffsim {
namespace {

/// Two triangles, one of them in no group, a line of two segments in group 3, and a tetrahedron; elements from line 11.
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
  EXPECT_EQ(triangles.vertex_regions.size(), 3u);  // of the line
  EXPECT_TRUE(triangles.face_regions.empty());

  const auto segments = parse_gmsh(mixed_22, "mesh.msh", 2.0, false, 1, CellKind::segment);
  EXPECT_EQ(segments.lower(CellKind::segment).nodes, (std::vector<std::int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(segments.lower(CellKind::segment).regions.size(), 2u);
  EXPECT_EQ(segments.num_unused_vertices, 1);
  EXPECT_EQ(segments.coordinates[3], 2.0);
  // The same triangle is a face where the cells are tetrahedra; the one without a group is skipped.
  EXPECT_EQ(parse_gmsh(mixed_22, "mesh.msh").face_regions.size(), 1u);
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
}  // namespace diffsim
