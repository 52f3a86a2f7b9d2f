// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_areas.hpp"

#include <cmath>

#include "diffsim/core/small_tensor.hpp"

namespace diffsim::contact {

SurfaceAreas surface_areas(const TetrahedralMesh& mesh) {
  const std::vector<double>& rest = mesh.rest_positions();
  std::vector<double> sums(rest.size(), 0.0);
  const auto point = [&](int v) {
    const auto i = 3 * static_cast<std::size_t>(v);
    return Vec3<double>{{rest[i], rest[i + 1], rest[i + 2]}};
  };
  for (const Face& face : mesh.boundary()) {
    const auto& v = face.vertices;
    const Vec3<double> n = cross(point(v[1]) - point(v[0]), point(v[2]) - point(v[0]));
    for (const int vertex : v) sums[3 * static_cast<std::size_t>(vertex)] += std::sqrt(dot(n, n)) / 6.0;
  }
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
