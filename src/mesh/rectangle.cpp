// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/rectangle.hpp"

namespace diffsim {

TriangleMesh rectangle_triangles(const std::array<double, 2>& size, const std::array<int, 2>& cells) {
  const auto [nx, ny] = cells;
  TriangleMesh mesh;
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) mesh.vertices.push_back({size[0] * i / nx, size[1] * j / ny, 0.0});
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const int p = j * (nx + 1) + i, q = p + 1, r = q + nx + 1, s = p + nx + 1;
      const bool other = (i + j) % 2 != 0;
      mesh.triangles.push_back({p, q, other ? s : r});
      mesh.triangles.push_back({other ? q : p, r, s});
    }
  return mesh;
}

}  // namespace diffsim
