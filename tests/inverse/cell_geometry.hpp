// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

/// Vectors, and the geometry of linear tetrahedra.
namespace diffsim::testing_inverse {

using Point = std::array<double, 3>;

inline double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Point position(const TetrahedralMesh& mesh, int vertex) {
  const double* const x = mesh.rest_positions().data() + 3 * vertex;
  return {x[0], x[1], x[2]};
}

/// Corners, centroid and volume of a linear tetrahedron.
struct Cell {
  Cell(const TetrahedralMesh& mesh, std::size_t number) {
    for (std::size_t i = 0; i < 4; ++i) {
      corners[i] = mesh.cells()[4 * number + i];
      x[i] = position(mesh, corners[i]);
      for (std::size_t d = 0; d < 3; ++d) centroid[d] += 0.25 * x[i][d];
    }
    volume = dot(minus(x[1], x[0]), cross(minus(x[2], x[0]), minus(x[3], x[0]))) / 6.0;
  }
  std::array<int, 4> corners{};
  std::array<Point, 4> x{};
  Point centroid{};
  double volume = 0.0;
};

}  // namespace diffsim::testing_inverse
