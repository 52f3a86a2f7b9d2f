// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

/// Triangle meshes of rectangles for tests of plates and shells.
namespace diffsim::testing_plate {

/// Pattern of a grid's diagonals, and displacements of its vertices.
enum class Family {
  one_diagonal,  ///< the same diagonal in all rectangles
  union_jack,    ///< alternating diagonals: vertices have four or eight neighbours
  moved,         ///< one diagonal; random displacements of inner vertices by up to a quarter of a cell
  random         ///< random diagonals among those without angles above 120°; vertices as in `moved`
};
inline constexpr std::array families{Family::one_diagonal, Family::union_jack, Family::moved, Family::random};
inline const char* name_of(Family family) {
  constexpr std::array names{"one_diagonal", "union_jack", "moved", "random"};
  return names[static_cast<std::size_t>(family)];
}

/// Mesh of [0, a] × [0, b] in the plane z = 0 with nx × ny rectangles, each divided into two triangles.
/// Vertex i + j (nx + 1) is in column i and row j. The mesh is the same on every machine.
inline MeshData rectangle(Family family, int nx, int ny, double a, double b) {
  std::mt19937 engine(17);
  const auto uniform = [&](double most) { return most * (2.0 * (static_cast<double>(engine()) / 4294967296.0) - 1.0); };
  const bool irregular = family == Family::moved || family == Family::random;
  MeshData data;
  data.num_vertices = std::int64_t{nx + 1} * (ny + 1);
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) {
      const bool inner = i > 0 && j > 0 && i < nx && j < ny;
      const double dx = irregular && inner ? uniform(0.25) : 0.0, dy = irregular && inner ? uniform(0.25) : 0.0;
      data.coordinates.insert(data.coordinates.end(), {a * (i + dx) / nx, b * (j + dy) / ny, 0.0});
    }
  const auto at = [&](std::int64_t v) {
    return std::array{data.coordinates[3 * static_cast<std::size_t>(v)],
                      data.coordinates[3 * static_cast<std::size_t>(v) + 1]};
  };
  /// Returns true if the angle at v between p and q is below 120°.
  const auto fits = [&](std::int64_t v, std::int64_t p, std::int64_t q) {
    const auto x = at(v), y = at(p), z = at(q);
    const std::array u{y[0] - x[0], y[1] - x[1]}, w{z[0] - x[0], z[1] - x[1]};
    return u[0] * w[0] + u[1] * w[1] > -0.5 * std::hypot(u[0], u[1]) * std::hypot(w[0], w[1]);
  };
  MeshData::LowerCells& triangles = data.lower(CellKind::triangle);
  triangles.num = std::int64_t{2} * nx * ny;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const std::int64_t p = std::int64_t{j} * (nx + 1) + i, q = p + 1, r = q + nx + 1, s = p + nx + 1;
      bool other = family == Family::union_jack && (i + j) % 2 != 0;
      if (family == Family::random) {
        // The diagonal q-s does not divide the angles at p and r; the diagonal p-r does not divide those at q and s.
        other = engine() % 2 == 0 ? fits(p, q, s) && fits(r, q, s) : !(fits(q, p, r) && fits(s, p, r));
      }
      if (other)
        triangles.nodes.insert(triangles.nodes.end(), {p, q, s, q, r, s});
      else
        triangles.nodes.insert(triangles.nodes.end(), {p, q, r, p, r, s});
    }
  return data;
}

}  // namespace diffsim::testing_plate
