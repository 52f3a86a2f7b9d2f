// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "attach/attachment.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "core/on_all_ranks.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

using Point = Vec3<double>;

double length(const Point& x) { return std::sqrt(dot(x, x)); }

/// Vertex to be attached.
struct Attached {
  std::array<double, 3> X;
  std::int64_t number;  // file number
  int rank, index;      // owner rank of the vertex, and local index on the owner rank
};

/// Nearest anchor found by a rank.
struct Found {
  double distance = std::numeric_limits<double>::infinity();  // distance from the vertex to the cell
  double off = 0.0;  // `distance`, for anchors on vertices and on segments without directors; else unused
  std::array<int, 4> nodes{-1, -1, -1, -1};
  std::array<double, 3> xi{};
};

/// Search for the cell of a region that is nearest to a point in the rest shape, among the cells of this rank.
class AnchorSearch {
 public:
  AnchorSearch(const TetrahedralMesh& mesh, const Region& to) : mesh_(mesh) {
    const auto has = [&](const std::vector<int>& cells) {
      return sum_over_ranks(static_cast<std::int64_t>(cells.size()), mesh.comm()) > 0;
    };
    if (has(to.cells)) {
      kind_ = AnchorKind::tetrahedron;
      const auto width = static_cast<std::size_t>(mesh.nodes_per_cell());
      for (const int cell : to.cells) add(&mesh.cells()[width * static_cast<std::size_t>(cell)], 4);
    } else if (const auto& triangles = to.cells_of(CellKind::triangle); has(triangles)) {
      kind_ = AnchorKind::triangle;
      for (const int cell : triangles) add(corners(CellKind::triangle, cell), 3);
    } else if (const auto& segments = to.cells_of(CellKind::segment); has(segments)) {
      add_segments(segments);
    } else {
      for (const int v : to.vertices) add(&v, 1);
    }
  }

  AnchorKind kind() const { return kind_; }
  std::size_t num_nodes() const {
    return kind_ == AnchorKind::tetrahedron ? 4
           : kind_ == AnchorKind::vertex    ? 1
           : kind_ == AnchorKind::segment   ? 2
                                            : 3;
  }
  /// Returns true if the coordinates of an anchor can represent a position that is not on the cell.
  bool has_frame() const { return kind_ != AnchorKind::vertex && kind_ != AnchorKind::segment; }

  Found nearest(const Point& X) const {
    Found best;
    for (const std::array<int, 4>& nodes : cells_) {
      const Found found = anchor(X, nodes);
      if (found.distance < best.distance) best = found;
    }
    return best;
  }

 private:
  const int* corners(CellKind kind, int cell) const {
    return &mesh_.lower_cells(kind).vertices[static_cast<std::size_t>(corners_of(kind) * cell)];
  }
  void add(const int* nodes, std::size_t count) {
    std::array<int, 4> all{-1, -1, -1, -1};
    std::copy(nodes, nodes + count, all.begin());
    cells_.push_back(all);
  }
  void add_segments(const std::vector<int>& segments) {
    const std::vector<int>& directors = mesh_.lower_cells(CellKind::segment).directors;
    bool framed = true;
    for (const int cell : segments)
      framed = framed && !directors.empty() && directors[static_cast<std::size_t>(cell)] >= 0;
    framed = sum_over_ranks(static_cast<std::int64_t>(!framed), mesh_.comm()) == 0;
    kind_ = framed ? AnchorKind::framed_segment : AnchorKind::segment;
    for (const int cell : segments) {
      add(corners(CellKind::segment, cell), 2);
      if (framed) cells_.back()[2] = directors[static_cast<std::size_t>(cell)];
    }
  }

  Point at(int vertex) const {
    const double* const x = &mesh_.rest_positions()[3 * static_cast<std::size_t>(vertex)];
    return {{x[0], x[1], x[2]}};
  }

  Found anchor(const Point& X, const std::array<int, 4>& nodes) const {
    Found found;
    found.nodes = nodes;
    Point q[4];
    for (std::size_t k = 0; k < num_nodes(); ++k) q[k] = at(nodes[k]);
    const Point r = X - q[0];
    if (kind_ == AnchorKind::vertex) {
      found.distance = found.off = length(r);
      return found;
    }
    // Computes the coordinates ξ of X in the cell, and the distance from X to the cell.
    const Point a = q[1] - q[0];
    if (kind_ == AnchorKind::segment || kind_ == AnchorKind::framed_segment) {
      const double l = length(a), s = dot(a, r) / (l * l);
      found.xi[0] = s;
      const Point along{{s * a[0], s * a[1], s * a[2]}};
      const Point across = r - along;
      found.off = length(across);
      const double beyond = std::max({0.0, -s, s - 1.0}) * l;
      found.distance = std::hypot(found.off, beyond);
      if (kind_ == AnchorKind::segment) {
        found.off = found.distance;
      } else {
        Point m = q[2];
        const double part = dot(a, m) / (l * l);
        for (int c = 0; c < 3; ++c) m[c] -= part * a[c];
        found.xi[1] = dot(across, m) / length(m);
        found.xi[2] = dot(across, cross(a, m)) / (l * length(m));
      }
      return found;
    }
    const Point b = q[2] - q[0];
    const Point third = kind_ == AnchorKind::triangle ? unit(cross(a, b)) : q[3] - q[0];
    const double volume = dot(a, cross(b, third));
    found.xi = {dot(r, cross(b, third)) / volume, dot(r, cross(third, a)) / volume, dot(r, cross(a, b)) / volume};
    found.distance = kind_ == AnchorKind::triangle ? distance(X, {q[0], q[1], q[2]})
                     : is_inside(found.xi)
                         ? 0.0
                         : std::min(std::min(distance(X, {q[0], q[1], q[2]}), distance(X, {q[0], q[1], q[3]})),
                                    std::min(distance(X, {q[0], q[2], q[3]}), distance(X, {q[1], q[2], q[3]})));
    return found;
  }
  static Point unit(const Point& x) {
    const double l = length(x);
    return {{x[0] / l, x[1] / l, x[2] / l}};
  }
  static bool is_inside(const std::array<double, 3>& xi) {
    return xi[0] >= 0.0 && xi[1] >= 0.0 && xi[2] >= 0.0 && xi[0] + xi[1] + xi[2] <= 1.0;
  }
  static double distance(const Point& X, const Point& a, const Point& b) {
    const Point e = b - a, r = X - a;
    const double s = std::clamp(dot(e, r) / dot(e, e), 0.0, 1.0);
    return length({{r[0] - s * e[0], r[1] - s * e[1], r[2] - s * e[2]}});
  }
  static double distance(const Point& X, const std::array<Point, 3>& q) {
    const Point a = q[1] - q[0], b = q[2] - q[0], n = cross(a, b), r = X - q[0];
    const double square = dot(n, n), s = dot(cross(r, b), n) / square, t = dot(cross(a, r), n) / square;
    if (s >= 0.0 && t >= 0.0 && s + t <= 1.0) return std::abs(dot(r, n)) / std::sqrt(square);
    return std::min({distance(X, q[0], q[1]), distance(X, q[1], q[2]), distance(X, q[2], q[0])});
  }

  const TetrahedralMesh& mesh_;
  AnchorKind kind_ = AnchorKind::vertex;
  std::vector<std::array<int, 4>> cells_;
};

/// Returns the vertices of `region` that this rank owns. Throws Error (input) if the regions `region` and `to` have
/// vertices in common. Collective.
std::vector<Attached> vertices_to_attach(const TetrahedralMesh& mesh, const std::string& region,
                                         const std::string& to) {
  const Region &of = mesh.region(region), &target = mesh.region(to);
  const int rank = rank_of(mesh.comm());
  std::vector<Attached> mine;
  bool is_of_both = false;
  for (const int v : of.vertices) {
    if (v >= mesh.num_owned_vertices()) continue;
    const double* const X = &mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
    mine.push_back({{X[0], X[1], X[2]}, mesh.vertex_order().file_index()[static_cast<std::size_t>(v)], rank, v});
    is_of_both = is_of_both || std::binary_search(target.vertices.begin(), target.vertices.end(), v);
  }
  if (sum_over_ranks(static_cast<std::int64_t>(is_of_both), mesh.comm()) > 0)
    throw Error(
        "regions '" + region + "' and '" + to + "' have vertices in common, which cannot be attached to themselves",
        ErrorKind::input);
  return mine;
}

/// Nearest anchors of each attached vertex: the nearest anchor on this rank, and the distance and the rank of the
/// nearest anchor on all ranks.
struct NearestAnchors {
  std::vector<Found> found;   // nearest anchors on this rank
  std::vector<double> least;  // distance from the vertex to the nearest anchor on all ranks
  std::vector<int> chosen;    // rank with the nearest anchor; the number of ranks if no rank has an anchor
};

/// Finds the nearest anchors of `attached`, which are the same vertices on all ranks. Collective.
NearestAnchors nearest_anchors(MPI_Comm comm, const AnchorSearch& search, const std::vector<Attached>& attached) {
  std::vector<Found> found;
  std::vector<double> distances;
  for (const Attached& vertex : attached) {
    found.push_back(search.nearest({{vertex.X[0], vertex.X[1], vertex.X[2]}}));
    distances.push_back(found.back().distance);
  }
  // The nearest anchor on all ranks is chosen. If anchors on several ranks have the same distance, the anchor on the
  // lowest of these ranks is chosen.
  std::vector<double> least = distances;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_DOUBLE, MPI_MIN, comm));
  std::vector<int> chosen(attached.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = distances[i] == least[i] && std::isfinite(least[i]) ? rank_of(comm) : num_ranks(comm);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, chosen.data(), static_cast<int>(chosen.size()), MPI_INT, MPI_MIN, comm));
  return {std::move(found), std::move(least), std::move(chosen)};
}

/// Anchor of an attached vertex. An Answer is sent to the rank that owns the vertex.
struct Answer {
  std::size_t vertex;  // index in the list of all attached vertices
  std::array<VertexLocation, 4> nodes;
  std::array<double, 3> xi;
};

/// Returns those chosen anchors that were found on this rank. Collective.
std::vector<Answer> answers_of_rank(const TetrahedralMesh& mesh, const AnchorSearch& search,
                                    const NearestAnchors& nearest) {
  const int rank = rank_of(mesh.comm());
  std::vector<VertexLocation> owners(static_cast<std::size_t>(mesh.num_vertices()));
  for (std::size_t v = 0; v < owners.size(); ++v) owners[v] = {rank, static_cast<int>(v)};
  mesh.vertex_exchange().copy_to_ghosts(owners);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < nearest.chosen.size(); ++i) {
    if (nearest.chosen[i] != rank) continue;
    Answer answer{i, {}, nearest.found[i].xi};
    for (std::size_t k = 0; k < search.num_nodes(); ++k)
      answer.nodes[k] = owners[static_cast<std::size_t>(nearest.found[i].nodes[k])];
    answers.push_back(answer);
  }
  return answers;
}

/// Throws Error (input) for the first vertex whose nearest anchor is too far away. Collective.
void require_near(const TetrahedralMesh& mesh, const AnchorSearch& search, const std::vector<Attached>& attached,
                  const NearestAnchors& nearest, const std::string& region, const std::string& to) {
  const MPI_Comm comm = mesh.comm();
  const int rank = rank_of(comm);
  const double longest = mesh.quality().max_edge, reach = search.has_frame() ? longest : 1e-6 * longest;
  collectively(comm, [&] {
    for (std::size_t i = 0; i < attached.size(); ++i) {
      const bool is_near = (search.has_frame() ? nearest.found[i].distance : nearest.found[i].off) <= reach;
      if (nearest.chosen[i] < num_ranks(comm) && (nearest.chosen[i] != rank || is_near)) continue;
      throw Error("vertex " + vertex_name(mesh.bodies(), attached[i].number) + " of region '" + region + "' is " +
                      std::to_string(nearest.least[i]) + " m from region '" + to + "'" +
                      (search.has_frame() ? ", more than the longest edge; place the bodies nearer to each other"
                                          : ", which has no frame to keep a distance; place the vertex on it"),
                  ErrorKind::input);
    }
  });
}

}  // namespace

Anchors find_anchors(const TetrahedralMesh& mesh, const std::string& region, const std::string& to) {
  const MPI_Comm comm = mesh.comm();
  const std::vector<Attached> attached = on_all_ranks(comm, vertices_to_attach(mesh, region, to));
  const AnchorSearch search(mesh, mesh.region(to));
  const NearestAnchors nearest = nearest_anchors(comm, search, attached);
  std::vector<Answer> answers = answers_of_rank(mesh, search, nearest);
  require_near(mesh, search, attached, nearest, region, to);
  answers = redistribute(comm, answers, [&](const Answer& answer) { return attached[answer.vertex].rank; });
  std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) { return a.vertex < b.vertex; });
  Anchors anchors;
  anchors.kind = search.kind();
  for (const Answer& answer : answers) {
    anchors.vertices.push_back(attached[answer.vertex].index);
    anchors.nodes.insert(anchors.nodes.end(), answer.nodes.begin(),
                         answer.nodes.begin() + static_cast<std::ptrdiff_t>(search.num_nodes()));
    anchors.places.insert(anchors.places.end(), answer.xi.begin(), answer.xi.end());
  }
  return anchors;
}

}  // namespace diffsim
