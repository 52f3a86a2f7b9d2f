// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/impl/surface_areas.hpp"

#include <algorithm>
#include <cmath>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::contact {

void add_triangles_of(const Face& face, std::vector<SurfacePiece>& triangles) {
  if (face.num_nodes() == 3) {
    triangles.push_back(face.vertices);
    return;
  }
  const auto &v = face.vertices, &m = face.middles;  // m: nodes on the edges 01, 12, 20
  triangles.push_back({v[0], m[0], m[2]});
  triangles.push_back({m[0], v[1], m[1]});
  triangles.push_back({m[2], m[1], v[2]});
  triangles.push_back({m[0], m[1], m[2]});
}

int surface_dimension(const TetrahedralMesh& mesh, std::int64_t number) {
  CellKind kind = CellKind::tetrahedron;
  if (!mesh.bodies().empty()) {
    kind = mesh.bodies()[static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number))].kind;
  } else {
    while (kind != CellKind::point && mesh.num_global(kind) == 0) kind = static_cast<CellKind>(dimension_of(kind) - 1);
  }
  return std::min(2, diffsim::dimension_of(kind));
}

std::vector<SurfacePiece> pieces_of_kind(const TetrahedralMesh& mesh, CellKind kind) {
  const std::vector<int>& cells = mesh.lower_cells(kind).vertices;
  const auto corners = static_cast<std::size_t>(corners_of(kind));
  std::vector<SurfacePiece> pieces;
  for (std::size_t i = 0; i < cells.size(); i += corners) {
    const auto corner = [&](std::size_t k) { return cells[i + std::min(k, corners - 1)]; };
    const SurfacePiece piece = {corner(0), corner(1), corner(2)};
    const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(piece[0])];
    if (!mesh.is_director().empty() && mesh.is_director()[static_cast<std::size_t>(piece[0])] != 0) continue;
    if (kind == CellKind::triangle || surface_dimension(mesh, number) == diffsim::dimension_of(kind))
      pieces.push_back(piece);
  }
  return pieces;
}

std::vector<SurfacePiece> surface_pieces(const TetrahedralMesh& mesh) {
  std::vector<SurfacePiece> pieces;
  for (const Face& face : mesh.boundary()) add_triangles_of(face, pieces);
  for (const CellKind kind : {CellKind::triangle, CellKind::segment, CellKind::point}) {
    const std::vector<SurfacePiece> cells = pieces_of_kind(mesh, kind);
    pieces.insert(pieces.end(), cells.begin(), cells.end());
  }
  return pieces;
}

namespace {

/// Derivative ∂m/∂x_k of the measure m of a piece with respect to corner k. For a triangle, m = |n|/2, where n is the
/// cross product of two sides; the derivative is half of the opposite side, turned by 90° in the plane of the triangle.
/// For a segment the derivative is the unit vector from the other end to corner k; for a point the derivative is zero.
/// Sets `measure` to m if `measure` is given.
Vec3<double> measure_gradient(const std::vector<double>& X, const SurfacePiece& piece, std::size_t k,
                              double* measure = nullptr) {
  const auto point = [&](std::size_t corner) {
    const auto i = 3 * static_cast<std::size_t>(piece[corner % 3]);
    return Vec3<double>{{X[i], X[i + 1], X[i + 2]}};
  };
  const int dimension = dimension_of(piece);
  if (dimension < 2) {
    const Vec3<double> way = point(k) - point(1 - k);
    const double length = dimension == 1 ? std::sqrt(dot(way, way)) : 1.0;
    if (measure) *measure = length;
    return {{way[0] / length, way[1] / length, way[2] / length}};
  }
  const Vec3<double> n = cross(point(k + 1) - point(k), point(k + 2) - point(k));
  const double length = std::sqrt(dot(n, n));
  if (measure) *measure = 0.5 * length;
  const Vec3<double> turned = cross(n, point(k + 2) - point(k + 1));
  return {{0.5 * turned[0] / length, 0.5 * turned[1] / length, 0.5 * turned[2] / length}};
}

/// Number of distinct corners of a piece.
std::size_t corners_of_piece(const SurfacePiece& piece) { return static_cast<std::size_t>(dimension_of(piece)) + 1; }

}  // namespace

double corner_measure(const std::vector<double>& X, const SurfacePiece& piece) {
  double measure = 0.0;
  measure_gradient(X, piece, 0, &measure);
  return measure / static_cast<double>(corners_of_piece(piece));
}

RestAreas::RestAreas(const TetrahedralMesh& mesh) : mesh_(&mesh), pieces_(surface_pieces(mesh)) {}

std::vector<double> RestAreas::areas(const Field& rest) const { return sums(rest, nullptr); }
std::vector<double> RestAreas::tangent(const Field& rest, const Field& direction) const {
  return sums(rest, &direction);
}

std::vector<double> RestAreas::sums(const Field& rest, const Field* direction) const {
  const std::vector<double> X = rest.to_host(), dX = direction ? direction->to_host() : std::vector<double>();
  std::vector<double> all(X.size(), 0.0);
  for (const SurfacePiece& piece : pieces_) {
    const std::size_t corners = corners_of_piece(piece);
    double share = 0.0;
    measure_gradient(X, piece, 0, &share);
    if (direction) {
      share = 0.0;
      for (std::size_t k = 0; k < corners; ++k) {
        const Vec3<double> slope = measure_gradient(X, piece, k);
        for (int c = 0; c < 3; ++c)
          share += slope[c] * dX[3 * static_cast<std::size_t>(piece[k]) + static_cast<std::size_t>(c)];
      }
    }
    for (std::size_t k = 0; k < corners; ++k)
      all[3 * static_cast<std::size_t>(piece[k])] += share / static_cast<double>(corners);
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
  for (const SurfacePiece& piece : pieces_) {
    const std::size_t corners = corners_of_piece(piece);
    if (corners == 1) continue;
    double by_measure = 0.0;
    for (std::size_t k = 0; k < corners; ++k)
      by_measure += bar[3 * static_cast<std::size_t>(piece[k])] / static_cast<double>(corners);
    for (std::size_t k = 0; k < corners; ++k) {
      const Vec3<double> slope = measure_gradient(X, piece, k);
      for (int c = 0; c < 3; ++c)
        sums[3 * static_cast<std::size_t>(piece[k]) + static_cast<std::size_t>(c)] += by_measure * slope[c];
    }
  }
  gradient.from_host(sums);
}

SurfaceAreas surface_areas(const TetrahedralMesh& mesh, int dimension) {
  std::vector<double> sums(mesh.rest_positions().size(), 0.0);
  for (const SurfacePiece& piece : surface_pieces(mesh)) {
    if (dimension_of(piece) != dimension) continue;
    for (std::size_t k = 0; k < corners_of_piece(piece); ++k)
      sums[3 * static_cast<std::size_t>(piece[k])] += corner_measure(mesh.rest_positions(), piece);
  }
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
