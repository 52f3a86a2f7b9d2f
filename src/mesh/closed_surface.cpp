// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/closed_surface.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {
namespace {

/// Returns the positions of a triangle's corners relative to `origin`.
std::array<Vec3<double>, 3> corners_of(const TriangleMesh& mesh, const std::array<int, 3>& triangle,
                                       const std::array<double, 3>& origin) {
  std::array<Vec3<double>, 3> r;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      r[k][static_cast<int>(c)] = mesh.vertices[static_cast<std::size_t>(triangle[k])][c] - origin[c];
  return r;
}

}  // namespace

std::string volume_error(const TriangleMesh& mesh) {
  struct Edge {
    int forth = 0, back = 0;
  };
  std::map<std::pair<int, int>, Edge> edges;
  for (const auto& triangle : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = triangle[k], b = triangle[(k + 1) % 3];
      Edge& edge = edges[{std::min(a, b), std::max(a, b)}];
      ++(a < b ? edge.forth : edge.back);
    }
  for (const auto& [ends, edge] : edges) {
    if (edge.forth == 1 && edge.back == 1) continue;
    const auto &a = mesh.vertices[static_cast<std::size_t>(ends.first)],
               &b = mesh.vertices[static_cast<std::size_t>(ends.second)];
    const int count = edge.forth + edge.back;
    char text[300];
    std::snprintf(text, sizeof(text), "the edge from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) has %s", a[0], a[1], a[2],
                  b[0], b[1], b[2],
                  count == 1   ? "one triangle: the surface is open"
                  : count == 2 ? "two triangles of opposite orientation"
                               : "more than two triangles: the surface is not a manifold");
    return text;
  }
  return {};
}

double surface_area(const TriangleMesh& mesh) {
  double sum = 0.0;
  for (const auto& triangle : mesh.triangles) {
    const auto [a, b, c] = corners_of(mesh, triangle, {});
    const Vec3<double> n = cross(b - a, c - a);
    sum += 0.5 * std::sqrt(dot(n, n));
  }
  return sum;
}

VolumeMoments volume_moments(const TriangleMesh& mesh) {
  // Compute the moments about a vertex of the body, to limit cancellation for a body far from the origin.
  const std::array<double, 3> origin = mesh.vertices.empty() ? std::array<double, 3>{} : mesh.vertices.front();
  VolumeMoments moments;
  double first[3] = {}, second[3][3] = {};
  for (const auto& triangle : mesh.triangles) {
    const std::array<Vec3<double>, 3> r = corners_of(mesh, triangle, origin);
    const double volume = dot(r[0], cross(r[1], r[2])) / 6.0;
    moments.volume += volume;
    // ∫ x dV = V/4 Σ r_k; ∫ x xᵀ dV = V/20 (Σ r_k r_kᵀ + s sᵀ), s = Σ r_k.
    const Vec3<double> s = r[0] + r[1] + r[2];
    for (int i = 0; i < 3; ++i) {
      first[i] += volume / 4.0 * s[i];
      for (int j = 0; j < 3; ++j) {
        double sum = s[i] * s[j];
        for (const Vec3<double>& x : r) sum += x[i] * x[j];
        second[i][j] += volume / 20.0 * sum;
      }
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    moments.centre[i] = origin[i] + first[i] / moments.volume;
    for (std::size_t j = 0; j < 3; ++j)
      moments.covariance[i][j] =
          second[i][j] / moments.volume - first[i] / moments.volume * (first[j] / moments.volume);
  }
  return moments;
}

}  // namespace diffsim
