// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/cell_defects.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "mesh/validate.hpp"

namespace diffsim {
namespace {

std::string number(double value, int digits = 17) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}
std::string number(std::int64_t value) { return std::to_string(value); }

/// Returns the number of nodes of a cell in words.
const char* in_words(int nodes) {
  constexpr const char* words[] = {"no", "one", "two", "three", "four"};
  return nodes == 10 ? "ten" : words[nodes];
}

}  // namespace

std::string coordinate_error(double value) {
  return " has the coordinate " + number(value) + "; coordinates must be finite";
}

std::string vertex_number_error(const std::int64_t* v, int nodes, std::int64_t num_vertices) {
  for (int i = 0; i < nodes; ++i) {
    if (v[i] < 0 || v[i] >= num_vertices)
      return " has vertex " + number(v[i]) + ", but vertices are numbered 0 to " + number(num_vertices - 1) +
             "; correct the number or add the vertex";
    if (std::find(v, v + i, v[i]) != v + i)
      return " has vertex " + number(v[i]) + " twice; remove the cell or give it " + in_words(nodes) +
             " different vertices";
  }
  return {};
}

bool CellSize::is_good() const { return determinant > min_relative_volume; }
bool CellSize::is_inverted() const { return determinant < -min_relative_volume; }

CellSize cell_size(const QuadraticCell& x) {
  double largest = 0.0;  // largest component of an edge vector
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t i = 0; i < 3; ++i) largest = std::max(largest, std::abs(x[a][i] - x[b][i]));
  if (largest == 0.0 || !std::isfinite(largest)) return {0.0, largest};
  // Scale the edge vectors before the products are computed, to avoid overflow and underflow.
  double e[3][3], longest2 = 0.0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i) e[k][i] = (x[k + 1][i] - x[0][i]) / largest;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double length2 = 0.0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double component = (a == 0 ? 0.0 : e[a - 1][i]) - (b == 0 ? 0.0 : e[b - 1][i]);
        length2 += component * component;
      }
      longest2 = std::max(longest2, length2);
    }
  const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                     e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                     e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  const double longest = std::sqrt(longest2);
  if (!std::isfinite(longest * largest)) return {0.0, longest * largest};
  return {det / (longest2 * longest), longest * largest};
}

std::string size_error(const CellSize& size, std::int64_t num_inverted, std::int64_t num_cells) {
  if (!std::isfinite(size.longest)) return " has an edge too long for double precision; check the coordinates";
  if (!size.is_inverted())
    return " has zero volume (its longest edge is " + number(size.longest, 4) +
           " m); remove it, move its vertices apart, or mesh that region again";
  const std::string volume = number(size.determinant * size.longest * size.longest * size.longest / 6, 4);
  if (num_inverted == num_cells && num_inverted > 1)
    return " and all others are inverted (volume " + volume +
           " m^3); swap two vertices in every cell, or undo the mirroring";
  return " is inverted (volume " + volume + " m^3; " + number(num_inverted) + " of " + number(num_cells) +
         " cells are); swap two of its vertices, or mesh that region again";
}

CellFace face_of(const std::int64_t* v, int a, std::int64_t cell) {
  CellFace face{{v[(a + 1) % 4], v[(a + 2) % 4], v[(a + 3) % 4]}, v[a], cell};
  std::sort(face.vertices.begin(), face.vertices.end());
  return face;
}

CellFace lower_cell(const std::int64_t* v, int corners, std::int64_t cell) {
  CellFace result{{-1, -1, -1}, -1, cell};
  std::copy_n(v, corners, result.vertices.begin());
  std::sort(result.vertices.begin(), result.vertices.end());
  return result;
}

std::optional<MeshDefect> face_defect(std::vector<CellFace>& faces, const std::string& kind) {
  std::sort(faces.begin(), faces.end(), [](const CellFace& a, const CellFace& b) {
    return std::tie(a.vertices, a.opposite, a.cell) < std::tie(b.vertices, b.opposite, b.cell);
  });
  for (std::size_t i = 1; i < faces.size(); ++i) {
    const CellFace &before = faces[i - 1], &face = faces[i];
    if (before.vertices != face.vertices) continue;
    if (before.opposite == face.opposite)
      return MeshDefect{face.cell,
                        " has the same vertices as " + kind + " " + number(before.cell) + "; remove one of the two"};
    if (i < 2 || faces[i - 2].vertices != face.vertices) continue;
    return MeshDefect{std::max({face.cell, before.cell, faces[i - 2].cell}),
                      " has the face of vertices " + number(face.vertices[0]) + ", " + number(face.vertices[1]) + ", " +
                          number(face.vertices[2]) +
                          ", which more than two cells have; remove the cells that overlap there"};
  }
  return std::nullopt;
}

std::optional<MeshDefect> coincident_vertices(std::vector<PlacedVertex>& vertices) {
  std::sort(vertices.begin(), vertices.end(), [](const PlacedVertex& a, const PlacedVertex& b) {
    return std::tie(a.x, a.vertex) < std::tie(b.x, b.vertex);
  });
  const auto same = std::adjacent_find(vertices.begin(), vertices.end(),
                                       [](const PlacedVertex& a, const PlacedVertex& b) { return a.x == b.x; });
  if (same == vertices.end()) return std::nullopt;
  return MeshDefect{same[1].vertex, " is at the same position as vertex " + number(same[0].vertex) + " (" +
                                        number(same->x[0]) + ", " + number(same->x[1]) + ", " + number(same->x[2]) +
                                        "); merge the two (in Gmsh: `Coherence Mesh`)"};
}

}  // namespace diffsim
