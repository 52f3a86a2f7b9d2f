// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_areas.hpp"

#include <cmath>

#include "diffsim/core/small_tensor.hpp"

namespace diffsim::contact {

void add_triangles_of(const Face& face, std::vector<std::array<int, 3>>& triangles) {
  if (face.num_nodes() == 3) {
    triangles.push_back(face.vertices);
    return;
  }
  const auto &v = face.vertices, &m = face.middles;  // m: on the edges 01, 12, 20
  triangles.push_back({v[0], m[0], m[2]});
  triangles.push_back({m[0], v[1], m[1]});
  triangles.push_back({m[2], m[1], v[2]});
  triangles.push_back({m[0], m[1], m[2]});
}

std::vector<std::array<int, 3>> surface_triangles(const TetrahedralMesh& mesh) {
  std::vector<std::array<int, 3>> triangles;
  for (const Face& face : mesh.boundary()) add_triangles_of(face, triangles);
  const std::vector<int>& thin = mesh.lower_cells(CellKind::triangle).vertices;
  for (std::size_t i = 0; i < thin.size(); i += 3) triangles.push_back({thin[i], thin[i + 1], thin[i + 2]});
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

namespace {

/// ∂A/∂(corner k) of the area A = |n|/2, n the cross product of two sides: half of the opposite side turned by 90°.
Vec3<double> area_gradient(const std::vector<double>& X, const std::array<int, 3>& triangle, std::size_t k,
                           double* area = nullptr) {
  const auto point = [&](std::size_t corner) {
    const auto i = 3 * static_cast<std::size_t>(triangle[corner % 3]);
    return Vec3<double>{{X[i], X[i + 1], X[i + 2]}};
  };
  const Vec3<double> n = cross(point(k + 1) - point(k), point(k + 2) - point(k));
  const double length = std::sqrt(dot(n, n));
  if (area) *area = 0.5 * length;
  const Vec3<double> turned = cross(n, point(k + 2) - point(k + 1));
  return {{0.5 * turned[0] / length, 0.5 * turned[1] / length, 0.5 * turned[2] / length}};
}

}  // namespace

RestAreas::RestAreas(const TetrahedralMesh& mesh) : mesh_(&mesh), triangles_(surface_triangles(mesh)) {}

std::vector<double> RestAreas::areas(const Field& rest) const { return sums(rest, nullptr); }
std::vector<double> RestAreas::tangent(const Field& rest, const Field& direction) const {
  return sums(rest, &direction);
}

std::vector<double> RestAreas::sums(const Field& rest, const Field* direction) const {
  const std::vector<double> X = rest.to_host(), dX = direction ? direction->to_host() : std::vector<double>();
  std::vector<double> all(X.size(), 0.0);
  for (const auto& triangle : triangles_) {
    double share = 0.0;
    area_gradient(X, triangle, 0, &share);
    if (direction) {
      share = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3<double> slope = area_gradient(X, triangle, k);
        for (int c = 0; c < 3; ++c)
          share += slope[c] * dX[3 * static_cast<std::size_t>(triangle[k]) + static_cast<std::size_t>(c)];
      }
    }
    for (const int v : triangle) all[3 * static_cast<std::size_t>(v)] += share / 3.0;
  }
  Field shares("surface_area", mesh_->vertex_entities(), 3);
  shares.from_host(all);
  mesh_->vertex_exchange().add_to_owners(shares);
  all = shares.to_host();
  std::vector<double> result(static_cast<std::size_t>(mesh_->num_owned_vertices()));
  for (std::size_t v = 0; v < result.size(); ++v) result[v] = all[3 * v];
  return result;
}

void RestAreas::add_gradient(const Field& rest, Field& areas_bar, Field& gradient) const {
  mesh_->vertex_exchange().copy_to_ghosts(areas_bar);
  const std::vector<double> X = rest.to_host(), bar = areas_bar.to_host();
  std::vector<double> sums = gradient.to_host();
  for (const auto& triangle : triangles_) {
    double by_area = 0.0;
    for (const int v : triangle) by_area += bar[3 * static_cast<std::size_t>(v)] / 3.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3<double> slope = area_gradient(X, triangle, k);
      for (int c = 0; c < 3; ++c)
        sums[3 * static_cast<std::size_t>(triangle[k]) + static_cast<std::size_t>(c)] += by_area * slope[c];
    }
  }
  gradient.from_host(sums);
}

SurfaceAreas surface_areas(const TetrahedralMesh& mesh) {
  std::vector<double> sums(mesh.rest_positions().size(), 0.0);
  for (const std::array<int, 3>& triangle : surface_triangles(mesh))
    for (const int vertex : triangle) sums[3 * static_cast<std::size_t>(vertex)] += rest_area(mesh, triangle) / 3.0;
  Field shares("surface_area", mesh.vertex_entities(), 3);
  shares.from_host(sums);
  mesh.vertex_exchange().add_to_owners(shares);
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
