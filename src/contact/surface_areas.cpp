// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_areas.hpp"

#include <cmath>

#include "diffsim/core/small_tensor.hpp"

namespace diffsim::contact {

std::vector<std::array<int, 3>> surface_triangles(const TetrahedralMesh& mesh) {
  std::vector<std::array<int, 3>> triangles;
  for (const Face& face : mesh.boundary()) {
    if (face.num_nodes() == 3) {
      triangles.push_back(face.vertices);
      continue;
    }
    const auto &v = face.vertices, &m = face.middles;  // m: on the edges 01, 12, 20
    triangles.push_back({v[0], m[0], m[2]});
    triangles.push_back({m[0], v[1], m[1]});
    triangles.push_back({m[2], m[1], v[2]});
    triangles.push_back({m[0], m[1], m[2]});
  }
  return triangles;
}

double rest_area(const TetrahedralMesh& mesh, const std::array<int, 3>& triangle) {
  const std::vector<double>& rest = mesh.rest_positions();
  const auto point = [&](int v) {
    const auto i = 3 * static_cast<std::size_t>(v);
    return Vec3<double>{{rest[i], rest[i + 1], rest[i + 2]}};
  };
  const Vec3<double> n = cross(point(triangle[1]) - point(triangle[0]), point(triangle[2]) - point(triangle[0]));
  return 0.5 * std::sqrt(dot(n, n));
}

SurfaceAreas surface_areas(const TetrahedralMesh& mesh) {
  std::vector<double> sums(mesh.rest_positions().size(), 0.0);
  for (const std::array<int, 3>& triangle : surface_triangles(mesh))
    for (const int vertex : triangle) sums[3 * static_cast<std::size_t>(vertex)] += rest_area(mesh, triangle) / 3.0;
  Field shares("surface_area", static_cast<std::size_t>(mesh.num_vertices()), 3, mesh.num_owned_vertices());
  shares.from_host(sums);
  mesh.halo().add_to_owners(shares);
  sums = shares.to_host();
  SurfaceAreas result;
  for (int v = 0; v < mesh.num_owned_vertices(); ++v) {
    const double area = sums[3 * static_cast<std::size_t>(v)];
    if (!(area > 0.0)) continue;
    result.vertices.push_back(v);
    result.areas.push_back(area);
  }
  return result;
}

}  // namespace diffsim::contact
