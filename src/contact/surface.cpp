// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "contact/surface_groups.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "core/redistribute.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::contact {
namespace {

using EdgeKey = std::array<std::int64_t, 2>;  // vertex numbers, the lower one first

/// Number of edges of a piece: three for a triangle, one for a segment, zero for a point.
std::size_t num_edges(const SurfaceTriangle& triangle) {
  const int dimension = triangle.dimension();
  return dimension == 2 ? 3 : static_cast<std::size_t>(dimension);
}
/// Number of distinct corners of a piece.
std::size_t num_corners(const SurfaceTriangle& triangle) { return static_cast<std::size_t>(triangle.dimension()) + 1; }

EdgeKey key_of(const SurfaceTriangle& triangle, std::size_t edge) {
  const std::int64_t a = triangle.corners[edge].number, b = triangle.corners[(edge + 1) % 3].number;
  return {std::min(a, b), std::max(a, b)};
}

/// Number of triangles with an edge, the rank that owns the edge, and the group of the edge.
struct EdgeAnswer {
  std::int32_t triangles, owner, group;
};

struct EdgeQuestion {
  EdgeKey edge;
  EdgeAnswer answer;
  std::int32_t asked_by, asked;
};

/// Rank to which all ranks with an edge send an EdgeQuestion: the owner of the edge's end with the lower number. Each
/// rank with a triangle at the edge has this end as an owned vertex or as a ghost. Each such rank therefore knows the
/// owner of the end, and is this owner or a neighbour of this owner in the partition.
std::int32_t meeting_place(const SurfaceTriangle& triangle, std::size_t edge) {
  const SurfaceVertex &a = triangle.corners[edge], &b = triangle.corners[(edge + 1) % 3];
  return a.number < b.number ? a.rank : b.rank;
}

/// Returns an EdgeAnswer for each edge of each triangle. The rank `meeting_place` of an edge computes the answer for
/// the edge. Collective.
std::vector<std::array<EdgeAnswer, 3>> ask_about_edges(MPI_Comm comm, const Surface& surface) {
  const std::vector<SurfaceTriangle>& triangles = surface.triangles;
  std::vector<EdgeQuestion> questions;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t e = 0; e < num_edges(triangles[t]); ++e)
      questions.push_back({key_of(triangles[t], e),
                           {1, rank_of(comm), surface.triangle_groups[t]},
                           rank_of(comm),
                           meeting_place(triangles[t], e)});
  questions = redistribute(comm, questions, [](const EdgeQuestion& question) { return question.asked; });
  // Questions arrive sorted by the sending rank, so the first question about an edge is from the lowest rank with a
  // triangle at the edge. This rank becomes the owner of the edge.
  std::map<EdgeKey, EdgeAnswer> edges;
  for (const EdgeQuestion& question : questions) {
    const auto [edge, is_new] = edges.try_emplace(question.edge, question.answer);
    if (is_new) continue;
    ++edge->second.triangles;
    edge->second.group = std::min(edge->second.group, question.answer.group);
  }
  for (EdgeQuestion& question : questions) question.answer = edges.at(question.edge);
  questions = redistribute(comm, questions, [](const EdgeQuestion& question) { return question.asked_by; });
  for (const EdgeQuestion& question : questions) edges[question.edge] = question.answer;
  std::vector<std::array<EdgeAnswer, 3>> result(triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t e = 0; e < num_edges(triangles[t]); ++e) result[t][e] = edges.at(key_of(triangles[t], e));
  return result;
}

/// Number, owner, and index on the owner of each local vertex. Collective.
std::vector<SurfaceVertex> vertices_of(const TetrahedralMesh& mesh) {
  const int rank = rank_of(mesh.comm());
  const auto local = static_cast<std::size_t>(mesh.num_vertices());
  std::vector<SurfaceVertex> result(local);
  for (std::size_t v = 0; v < local; ++v)
    result[v] = {mesh.vertex_order().file_index()[v], rank, static_cast<std::int32_t>(v)};
  mesh.vertex_exchange().copy_to_ghosts(result);
  return result;
}

/// Sets the weights of a triangle's edges to -(n - 1)/n, where n is the number of triangles at the edge. The edge
/// weights of a segment or a point are zero, because the piece itself, with the weight 1, represents its edge or
/// corner.
void set_edge_weights(SurfaceTriangle& triangle, const std::array<EdgeAnswer, 3>& edges) {
  triangle.edge_weights = {};
  if (triangle.dimension() < 2) return;
  for (std::size_t e = 0; e < 3; ++e) triangle.edge_weights[e] = 1.0 / edges[e].triangles - 1.0;
}

/// Contribution of a triangle to Σ_e (n_e - 1) at corner k, from the triangle's two edges at this corner. n_e is the
/// number of triangles at edge e.
double corner_share(const SurfaceTriangle& triangle, std::size_t k) {
  return -triangle.edge_weights[k] - triangle.edge_weights[(k + 2) % 3];
}

}  // namespace

Surface mesh_surface(const TetrahedralMesh& mesh, const std::vector<std::string>& regions) {
  Surface surface;
  const SurfaceGroups groups = surface_groups(mesh, regions);
  surface.triangle_groups = groups.triangles;
  const std::vector<SurfaceVertex> vertices = vertices_of(mesh);
  const std::vector<SurfacePiece> triangles = surface_pieces(mesh);
  for (const auto& triangle : triangles) {
    SurfaceTriangle& added = surface.triangles.emplace_back();
    added.corner_weights = {};
    for (std::size_t k = 0; k < 3; ++k) added.corners[k] = vertices[static_cast<std::size_t>(triangle[k])];
  }
  const auto edges = ask_about_edges(mesh.comm(), surface);

  // Three sums at each vertex, over the pieces at the vertex: measures, number of pieces, Σ_e (n_e - 1).
  std::vector<double> sums(3 * vertices.size(), 0.0);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    set_edge_weights(surface.triangles[t], edges[t]);
    const double share = corner_measure(mesh.rest_positions(), triangles[t]);
    for (std::size_t k = 0; k < num_corners(surface.triangles[t]); ++k) {
      double* const sum = &sums[3 * static_cast<std::size_t>(triangles[t][k])];
      sum[0] += share;
      sum[1] += 1.0;
      sum[2] += corner_share(surface.triangles[t], k);
    }
  }
  Field shares("surface", mesh.vertex_entities(), 3);
  shares.from_host(sums);
  mesh.vertex_exchange().add_to_owners(shares);
  mesh.vertex_exchange().copy_to_ghosts(shares);
  sums = shares.to_host();
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < num_corners(surface.triangles[t]); ++k) {
      const double* const sum = &sums[3 * static_cast<std::size_t>(triangles[t][k])];
      // Σ_e (n_e - 1) is an integer, but the triangles contribute fractions (n_e - 1)/n_e. `std::round` removes the
      // rounding errors of these fractions.
      surface.triangles[t].corner_weights[k] = (1.0 - sum[1] + std::round(sum[2])) / sum[1];
    }
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_owned_vertices()); ++v) {
    if (sums[3 * v + 1] == 0.0) continue;
    surface.points.push_back(vertices[v]);
    surface.point_areas.push_back(sums[3 * v]);
    surface.point_groups.push_back(groups.vertices[v]);
  }

  const int rank = rank_of(mesh.comm());
  std::map<EdgeKey, bool> seen;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t e = 0; e < num_edges(surface.triangles[t]); ++e) {
      if (edges[t][e].owner != rank || !seen.try_emplace(key_of(surface.triangles[t], e), true).second) continue;
      const auto a = 3 * static_cast<std::size_t>(triangles[t][e]),
                 b = 3 * static_cast<std::size_t>(triangles[t][(e + 1) % 3]);
      SurfaceEdge edge{{surface.triangles[t].corners[e], surface.triangles[t].corners[(e + 1) % 3]}, 0.0};
      if (edge.ends[0].number > edge.ends[1].number) std::swap(edge.ends[0], edge.ends[1]);
      for (std::size_t c = 0; c < 3; ++c)
        edge.squared_length += std::pow(mesh.rest_positions()[a + c] - mesh.rest_positions()[b + c], 2);
      surface.edges.push_back(edge);
      surface.edge_groups.push_back(edges[t][e].group);
    }
  return surface;
}

Surface triangle_surface(const TriangleMesh& mesh, std::int64_t first_number, std::int32_t group) {
  Surface surface;
  const auto vertex = [&](int v) { return SurfaceVertex{first_number + v, -1, v}; };
  const auto point = [&](int v) {
    const auto& x = mesh.vertices[static_cast<std::size_t>(v)];
    return Vec3<double>{{x[0], x[1], x[2]}};
  };
  std::map<EdgeKey, EdgeAnswer> edges;
  for (const auto& triangle : mesh.triangles) {
    SurfaceTriangle& added = surface.triangles.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) added.corners[k] = vertex(triangle[k]);
    for (std::size_t e = 0; e < 3; ++e) {
      EdgeAnswer& edge = edges.try_emplace(key_of(added, e), EdgeAnswer{0, 0, group}).first->second;
      if (edge.triangles++ > 0) continue;
      const Vec3<double> along = point(triangle[e]) - point(triangle[(e + 1) % 3]);
      surface.edges.push_back({{added.corners[e], added.corners[(e + 1) % 3]}, dot(along, along)});
    }
  }
  std::vector<double> area(mesh.vertices.size(), 0.0), count(area), shares(area);
  for (SurfaceTriangle& triangle : surface.triangles) {
    std::array<EdgeAnswer, 3> answers;
    for (std::size_t e = 0; e < 3; ++e) answers[e] = edges.at(key_of(triangle, e));
    set_edge_weights(triangle, answers);
    const auto& c = triangle.corners;
    const Vec3<double> n = cross(point(c[1].index) - point(c[0].index), point(c[2].index) - point(c[0].index));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto v = static_cast<std::size_t>(c[k].index);
      area[v] += std::sqrt(dot(n, n)) / 6.0;
      count[v] += 1.0;
      shares[v] += corner_share(triangle, k);
    }
  }
  for (SurfaceTriangle& triangle : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto v = static_cast<std::size_t>(triangle.corners[k].index);
      triangle.corner_weights[k] = (1.0 - count[v] + std::round(shares[v])) / count[v];
    }
  for (std::size_t v = 0; v < area.size(); ++v) {
    if (count[v] == 0.0) continue;
    surface.points.push_back(vertex(static_cast<int>(v)));
    surface.point_areas.push_back(area[v]);
  }
  surface.point_groups.assign(surface.points.size(), group);
  surface.triangle_groups.assign(surface.triangles.size(), group);
  surface.edge_groups.assign(surface.edges.size(), group);
  return surface;
}

}  // namespace diffsim::contact
