// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "contact/pair_kernels.hpp"
#include "contact/rendezvous.hpp"
#include "core/redistribute.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::contact {
namespace {

/// Maximum number of bounding boxes that a rank sends to other ranks for its triangles. The same maximum applies to the
/// boxes for a rank's points whose triangles are all on other ranks.
constexpr std::size_t boxes_a_rank = 64;

Box empty_box() {
  constexpr double big = std::numeric_limits<double>::max();
  return {{big, big, big}, {-big, -big, -big}};
}

void include(Box& box, const std::vector<double>& x, int vertex) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double value = x[3 * static_cast<std::size_t>(vertex) + c];
    box.low[c] = std::min(box.low[c], value);
    box.high[c] = std::max(box.high[c], value);
  }
}

template <std::size_t N>
Box swept_box(const std::array<int, N>& vertices, const std::vector<double>& from, const std::vector<double>& to,
              double reach) {
  Box box = empty_box();
  for (const int v : vertices) {
    include(box, from, v);
    include(box, to, v);
  }
  for (int c = 0; c < 3; ++c) {
    box.low[c] -= reach;
    box.high[c] += reach;
  }
  return box;
}

/// Divides `boxes` into at most `parts` sequences of consecutive boxes, and returns the bounding box of each sequence.
std::vector<Box> boxes_of_runs(const std::vector<Box>& boxes, std::size_t parts) {
  parts = std::min(parts, boxes.size());
  std::vector<Box> result(parts, empty_box());
  for (std::size_t i = 0; i < boxes.size(); ++i) result[i * parts / boxes.size()].include(boxes[i]);
  return result;
}

bool overlaps_any(const Box& box, const std::vector<Box>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Box& other) { return box.overlaps(other); });
}

// ---- kernels -------------------------------------------------------------------------------------------------

/// Sets the boxes of primitives that have `corners` vertices each. A box contains the motion of the primitive from
/// `from` to `to`, and is enlarged by `reach` (m) on each side.
void set_boxes(const DeviceArray<int>& vertices, int corners, const Vectors& from, const Vectors& to, double reach,
               const DeviceArray<Box>& boxes) {
  Kokkos::parallel_for(
      "diffsim::contact::boxes", Range(0, static_cast<int>(boxes.size())), KOKKOS_LAMBDA(int i) {
        Box box;
        for (int k = 0; k < corners; ++k) {
          const int v = vertices(corners * i + k);
          for (int c = 0; c < 3; ++c) {
            const double a = from(3 * v + c), b = to(3 * v + c);
            const double low = (a < b ? a : b) - reach, high = (a < b ? b : a) + reach;
            box.low[c] = k == 0 || low < box.low[c] ? low : box.low[c];
            box.high[c] = k == 0 || high > box.high[c] ? high : box.high[c];
          }
        }
        boxes(i) = box;
      });
}

/// Returns the boxes of primitives (`set_boxes`).
DeviceArray<Box> boxes_of(const DeviceArray<int>& vertices, int corners, const Vectors& from, const Vectors& to,
                          double reach) {
  const auto boxes =
      make_device_array<Box>("diffsim::contact::boxes", vertices.size() / static_cast<std::size_t>(corners));
  set_boxes(vertices, corners, from, to, reach, boxes);
  return boxes;
}

/// Predicate that selects the point–triangle pairs of this rank. Pairs without contact are omitted: two obstacles;
/// groups that ignore each other; a point of a higher dimension than the triangle's; a point that is a corner of the
/// triangle; and, if `self` is false, primitives of the same body. The points and triangles of obstacles follow those
/// of bodies. A pair of an obstacle's point belongs to the rank of the triangle.
struct KeepPointTriangle {
  PairView pairs;
  int body_points, local_triangles, body_triangles;
  bool self;

  KOKKOS_INLINE_FUNCTION bool operator()(int point, int triangle) const {
    if (pairs.both_prescribed(pairs.points(point), pairs.triangles(3 * triangle))) return false;
    if (pairs.ignores(pairs.point_groups(point), pairs.triangle_groups(triangle))) return false;
    if (pairs.dimension(pairs.points(point)) > pairs.dimension(pairs.triangles(3 * triangle))) return false;
    if (point >= body_points) return triangle < local_triangles;
    if (triangle >= body_triangles) return true;
    if (!self && pairs.together(pairs.points(point), pairs.triangles(3 * triangle))) return false;
    for (int k = 0; k < 3; ++k)
      if (pairs.triangles(3 * triangle + k) == pairs.points(point)) return false;
    return true;
  }
};

/// Predicate that selects the edge–edge pairs of this rank, omitting pairs without contact as in `KeepPointTriangle`.
/// Of the two pairs (a, b) and (b, a) of edges of bodies, the pair whose `query` has the lower vertex numbers is kept.
struct KeepEdgeEdge {
  PairView pairs;
  DeviceArray<std::int64_t> numbers;  // [edges, 2]: vertex numbers of the ends
  int body_edges;
  bool self;

  KOKKOS_INLINE_FUNCTION bool operator()(int query, int leaf) const {
    if (pairs.both_prescribed(pairs.edges(2 * query), pairs.edges(2 * leaf))) return false;
    if (pairs.ignores(pairs.edge_groups(query), pairs.edge_groups(leaf))) return false;
    if (leaf >= body_edges) return true;
    if (!self && pairs.together(pairs.edges(2 * query), pairs.edges(2 * leaf))) return false;
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        if (pairs.edges(2 * query + a) == pairs.edges(2 * leaf + b)) return false;
    const std::int64_t a0 = numbers(2 * query), b0 = numbers(2 * leaf);
    return a0 < b0 || (a0 == b0 && numbers(2 * query + 1) < numbers(2 * leaf + 1));
  }
};

/// Predicate that selects the edges and triangles of this rank that are tested for intersections, omitting pairs
/// without contact as in `KeepPointTriangle`. Triangles that stand for segments or points (dimension below 2) are
/// omitted, too.
struct KeepEdgeTriangle {
  PairView pairs;
  int owned_edges, body_edges, local_triangles, body_triangles;
  bool self;

  KOKKOS_INLINE_FUNCTION bool operator()(int edge, int triangle) const {
    if (pairs.both_prescribed(pairs.edges(2 * edge), pairs.triangles(3 * triangle))) return false;
    if (pairs.ignores(pairs.edge_groups(edge), pairs.triangle_groups(triangle))) return false;
    if (pairs.dimension(pairs.triangles(3 * triangle)) < 2) return false;
    if (edge >= body_edges) return triangle < local_triangles;
    if (edge >= owned_edges) return false;
    if (triangle < body_triangles && !self && pairs.together(pairs.edges(2 * edge), pairs.triangles(3 * triangle)))
      return false;
    for (int a = 0; a < 2; ++a)
      for (int k = 0; k < 3; ++k)
        if (pairs.edges(2 * edge + a) == pairs.triangles(3 * triangle + k)) return false;
    return true;
  }
};

/// Computes the squared lengths of edges.
void set_lengths(const DeviceArray<int>& edges, const Vectors& x, const DeviceArray<double>& lengths) {
  Kokkos::parallel_for(
      "diffsim::contact::set_lengths", Range(0, static_cast<int>(lengths.size())), KOKKOS_LAMBDA(int e) {
        double sum = 0.0;
        for (int c = 0; c < 3; ++c) {
          const double way = x(3 * edges(2 * e) + c) - x(3 * edges(2 * e + 1) + c);
          sum += way * way;
        }
        lengths(e) = sum;
      });
  Kokkos::fence();
}

/// Sets to[i] = from[i].
void copy_vectors(const double* from, double* to, int size) {
  Kokkos::parallel_for(
      "diffsim::contact::copy", Range(0, size), KOKKOS_LAMBDA(int i) { to[i] = from[i]; });
  Kokkos::fence();
}

/// Sets to[i] += from[i].
void add_vectors(const double* from, double* to, int size) {
  Kokkos::parallel_for(
      "diffsim::contact::add", Range(0, size), KOKKOS_LAMBDA(int i) { to[i] += from[i]; });
  Kokkos::fence();
}

/// Triangle or edge (`item`), its group, and the rank `to` that receives `item`.
template <class Item>
struct Listed {
  Item item;
  std::int32_t group, to = -1;
};
constexpr auto rank_of_item = [](const auto& listed) { return listed.to; };

/// Appends the triangles or edges of a surface to a list.
template <class Item>
void append(const std::vector<Item>& items, const std::vector<std::int32_t>& groups, std::vector<Listed<Item>>& list) {
  for (std::size_t i = 0; i < items.size(); ++i) list.push_back({items[i], groups[i]});
}

bool has_lower_number(const SurfaceVertex& x, const SurfaceVertex& y) { return x.number < y.number; }

/// Returns the vertices of `triangles` and `edges` whose owner is another rank than `rank`, sorted by number.
std::vector<SurfaceVertex> vertices_of_others(int rank, const std::vector<Listed<SurfaceTriangle>>& triangles,
                                              const std::vector<Listed<SurfaceEdge>>& edges) {
  std::vector<SurfaceVertex> others;
  const auto note = [&](const SurfaceVertex& v) {
    if (v.rank >= 0 && v.rank != rank) others.push_back(v);
  };
  for (const auto& triangle : triangles)
    for (const SurfaceVertex& v : triangle.item.corners) note(v);
  for (const auto& edge : edges)
    for (const SurfaceVertex& v : edge.item.ends) note(v);
  std::sort(others.begin(), others.end(), has_lower_number);
  others.erase(std::unique(others.begin(), others.end(),
                           [](const SurfaceVertex& x, const SurfaceVertex& y) { return x.number == y.number; }),
               others.end());
  return others;
}

/// Returns the index of the body or obstacle that contains each vertex. `numbers`: number of each vertex. `bodies`:
/// first vertex number of each body or obstacle.
std::vector<int> bodies_of(const std::vector<std::int64_t>& numbers, const std::vector<std::int64_t>& bodies) {
  std::vector<int> body;
  for (const std::int64_t number : numbers)
    body.push_back(static_cast<int>(
        std::max<std::ptrdiff_t>(std::upper_bound(bodies.begin(), bodies.end(), number) - bodies.begin(), 1) - 1));
  return body;
}

/// Flag for each vertex, 1 for vertices of obstacles and of the bodies `prescribed_bodies`.
std::vector<std::uint8_t> prescribed_of(const TetrahedralMesh& mesh, const std::vector<std::int64_t>& numbers,
                                        const std::vector<std::size_t>& prescribed_bodies) {
  const auto of_obstacle = [&](std::int64_t number) {
    if (number >= mesh.num_global_vertices()) return true;
    const auto body = static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number));
    return std::find(prescribed_bodies.begin(), prescribed_bodies.end(), body) != prescribed_bodies.end();
  };
  std::vector<std::uint8_t> prescribed;
  for (const std::int64_t number : numbers) prescribed.push_back(of_obstacle(number) ? 1 : 0);
  return prescribed;
}

/// Dimension of the surface that each vertex belongs to.
std::vector<std::uint8_t> dimensions_of(const TetrahedralMesh& mesh, const std::vector<std::int64_t>& numbers) {
  std::vector<std::uint8_t> dimensions;
  for (const std::int64_t number : numbers)
    dimensions.push_back(static_cast<std::uint8_t>(
        number < mesh.num_global_vertices() ? surface_dimension(mesh, std::max<std::int64_t>(number, 0)) : 2));
  return dimensions;
}

}  // namespace

/// Triangles and edges in this order: from this rank, received from other ranks, from obstacles.
struct Candidates::Lists {
  std::vector<Listed<SurfaceTriangle>> triangles;
  std::vector<Listed<SurfaceEdge>> edges;

  void add(const Surface& surface) {
    append(surface.triangles, surface.triangle_groups, triangles);
    append(surface.edges, surface.edge_groups, edges);
  }
};

Candidates::Candidates(const TetrahedralMesh& mesh, bool self, const std::vector<Surface>& obstacles,
                       const std::vector<std::int64_t>& bodies, const std::vector<std::string>& regions,
                       std::int64_t max_pairs)
    : mesh_(&mesh),
      self_(self),
      bodies_(bodies),
      max_pairs_(max_pairs),
      body_(mesh_surface(mesh, regions)),
      local_triangles_(surface_pieces(mesh)) {
  rank_ = rank_of(mesh.comm());
  ranks_ = num_ranks(mesh.comm());
  std::unordered_map<std::int64_t, int> local;
  for (std::size_t t = 0; t < local_triangles_.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) local[body_.triangles[t].corners[k].number] = local_triangles_[t][k];
  for (const SurfaceEdge& edge : body_.edges)
    local_edges_.push_back({local.at(edge.ends[0].number), local.at(edge.ends[1].number)});
  for (const SurfaceVertex& point : body_.points)
    if (!local.contains(point.number)) lone_points_.push_back({point.index});
  for (const Surface& obstacle : obstacles) {
    int count = 0;
    const auto shifted = [&](SurfaceVertex v) {
      count = std::max(count, v.index + 1);
      v.index += num_obstacle_vertices_;
      return v;
    };
    for (SurfaceTriangle triangle : obstacle.triangles) {
      for (SurfaceVertex& corner : triangle.corners) corner = shifted(corner);
      obstacles_.triangles.push_back(triangle);
    }
    for (SurfaceEdge edge : obstacle.edges) {
      for (SurfaceVertex& end : edge.ends) end = shifted(end);
      obstacles_.edges.push_back(edge);
    }
    for (const SurfaceVertex& point : obstacle.points) obstacles_.points.push_back(shifted(point));
    obstacles_.point_areas.insert(obstacles_.point_areas.end(), obstacle.point_areas.begin(),
                                  obstacle.point_areas.end());
    const auto add_groups = [](const std::vector<std::int32_t>& groups, std::vector<std::int32_t>& all) {
      all.insert(all.end(), groups.begin(), groups.end());
    };
    add_groups(obstacle.point_groups, obstacles_.point_groups);
    add_groups(obstacle.triangle_groups, obstacles_.triangle_groups);
    add_groups(obstacle.edge_groups, obstacles_.edge_groups);
    num_obstacle_vertices_ += count;
  }
  std::vector<int> watched;
  for (const SurfaceVertex& point : body_.points) watched.push_back(point.index);
  watched_ = to_device("diffsim::contact::watched", watched);
  num_owned_edges_ = static_cast<int>(body_.edges.size());
  vertices_ = with_copies(*mesh.owned_vertex_entities(), {}, {});
  make_fields();
}

void Candidates::make_fields() {
  ring_ = Field("contact_vectors", vertices_, 3);
  shares_ = Field("contact_shares", vertices_, 3);
}

void Candidates::cover(const Field& from, const Vectors& obstacles_from, const Field& to, const Vectors& obstacles_to,
                       double range) {
  const bool empty = watched_.size() + static_cast<std::size_t>(num_obstacle_vertices_) == 0;
  double largest[2] = {0.0, crowding()};  // largest distance by which a vertex has left its box; crowding
  if (range > range_ || (!empty && watched_at_.size() == 0))
    largest[0] = std::numeric_limits<double>::infinity();
  else if (!empty)
    largest[0] = std::max(farthest_out(from, obstacles_from), &from == &to ? 0.0 : farthest_out(to, obstacles_to));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, mesh_->comm()));
  ++calls_;
  if (largest[0] <= slack_) return;
  const ProfilingRegion region("diffsim::contact::find_candidates");
  if (rebuilds_ == 0) mean_edge_ = mean_edge(from.to_host());
  slack_ = new_slack(range, largest[0], largest[1]);
  ++rebuilds_;
  calls_ = 0;
  range_ = -1.0;  // the lists are not valid if the search throws
  const double reach = 0.5 * range + slack_;
  const std::vector<double> x_from = from.to_host(), x_to = to.to_host();
  Lists lists;
  lists.add(body_);
  if ((self_ || mesh_->bodies().size() > 1) && ranks_ > 1) import_primitives(x_from, x_to, reach, lists);
  const auto body_triangles = static_cast<int>(lists.triangles.size()),
             body_edges = static_cast<int>(lists.edges.size());
  lists.add(obstacles_);
  number_vertices(lists);

  std::vector<std::int64_t> edge_numbers;
  for (const auto& edge : lists.edges)
    for (const SurfaceVertex& end : edge.item.ends) edge_numbers.push_back(end.number);
  const Vectors a = gather(from, obstacles_from), b = &from == &to ? a : gather(to, obstacles_to);
  collectively(mesh_->comm(), [&] {
    pairs_.point_triangle = {};
    pairs_.edge_edge = {};
    {
      const BoxTree tree(boxes_of(pairs_.triangles, 3, a, b, reach));
      pairs_.point_triangle =
          find_pairs(tree, boxes_of(pairs_.points, 1, a, b, reach),
                     KeepPointTriangle{pairs_, static_cast<int>(body_.points.size()),
                                       static_cast<int>(body_.triangles.size()), body_triangles, self_},
                     max_pairs_, "points and triangles");
    }
    const DeviceArray<Box> boxes = boxes_of(pairs_.edges, 2, a, b, reach);
    const BoxTree tree(boxes);
    pairs_.edge_edge = find_pairs(
        tree, DeviceArray<Box>(boxes, std::make_pair(std::size_t{0}, static_cast<std::size_t>(num_owned_edges_))),
        KeepEdgeEdge{pairs_, to_device("diffsim::contact::edge_numbers", edge_numbers), body_edges, self_}, max_pairs_,
        "edges");
    drop_far_pairs(pairs_, a, b, range, slack_);
  });

  watch(x_from, obstacles_from, x_to, obstacles_to);
  range_ = range;
}

void Candidates::watch(const std::vector<double>& from, const Vectors& obstacles_from, const std::vector<double>& to,
                       const Vectors& obstacles_to) {
  const std::size_t mesh_vertices = watched_.size();
  std::vector<Box> swept(mesh_vertices + static_cast<std::size_t>(num_obstacle_vertices_));
  for (std::size_t i = 0; i < mesh_vertices; ++i)
    swept[i] = swept_box(std::array<int, 1>{body_.points[i].index}, from, to, 0.0);
  const auto o_from = host_view(obstacles_from);
  const auto o_to = host_view(obstacles_to);
  for (std::size_t i = mesh_vertices; i < swept.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t at = 3 * (i - mesh_vertices) + c;
      swept[i].low[c] = std::min(o_from(at), o_to(at));
      swept[i].high[c] = std::max(o_from(at), o_to(at));
    }
  watched_at_ = to_device("diffsim::contact::swept", swept);
}

void Candidates::import_primitives(const std::vector<double>& from, const std::vector<double>& to, double reach,
                                   Lists& lists) const {
  const MPI_Comm comm = mesh_->comm();
  std::vector<Box> triangle_boxes, edge_boxes, point_boxes;
  for (const auto& triangle : local_triangles_) triangle_boxes.push_back(swept_box(triangle, from, to, reach));
  for (const auto& edge : local_edges_) edge_boxes.push_back(swept_box(edge, from, to, reach));
  for (const auto& point : lone_points_) point_boxes.push_back(swept_box(point, from, to, reach));
  // Triangles are in the order of the cells, which follow a space-filling curve. Therefore consecutive triangles form a
  // compact part of the surface.
  std::vector<Box> parts = boxes_of_runs(triangle_boxes, boxes_a_rank);
  const std::vector<Box> lone = boxes_of_runs(point_boxes, boxes_a_rank);
  parts.insert(parts.end(), lone.begin(), lone.end());
  std::vector<Listed<SurfaceTriangle>> triangles;
  std::vector<Listed<SurfaceEdge>> edges;
  std::vector<int> neighbours;
  for (const Neighbour& other : rendezvous(comm, parts)) {
    neighbours.push_back(other.rank);
    const Box whole = boxes_of_runs(other.boxes, 1).front();
    for (std::size_t t = 0; t < triangle_boxes.size(); ++t)
      if (triangle_boxes[t].overlaps(whole) && overlaps_any(triangle_boxes[t], other.boxes))
        triangles.push_back({body_.triangles[t], body_.triangle_groups[t], other.rank});
    for (std::size_t e = 0; e < edge_boxes.size(); ++e)
      if (edge_boxes[e].overlaps(whole) && overlaps_any(edge_boxes[e], other.boxes))
        edges.push_back({body_.edges[e], body_.edge_groups[e], other.rank});
  }
  // Received triangles and edges are sorted by vertex numbers, so that the order of the lists does not depend on the
  // sending ranks.
  const auto own_triangles = static_cast<std::ptrdiff_t>(lists.triangles.size());
  const auto own_edges = static_cast<std::ptrdiff_t>(lists.edges.size());
  for (const auto& sent : redistribute_among(comm, neighbours, neighbours, triangles, rank_of_item))
    lists.triangles.push_back(sent);
  for (const auto& sent : redistribute_among(comm, neighbours, neighbours, edges, rank_of_item))
    lists.edges.push_back(sent);
  std::sort(lists.triangles.begin() + own_triangles, lists.triangles.end(), [](const auto& x, const auto& y) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t a = x.item.corners[k].number, b = y.item.corners[k].number;
      if (a != b) return a < b;
    }
    return false;
  });
  std::sort(lists.edges.begin() + own_edges, lists.edges.end(), [](const auto& x, const auto& y) {
    const auto &a = x.item.ends, &b = y.item.ends;
    return std::pair(a[0].number, a[1].number) < std::pair(b[0].number, b[1].number);
  });
}

void Candidates::number_vertices(Lists& lists) {
  const std::vector<SurfaceVertex> others = vertices_of_others(rank_, lists.triangles, lists.edges);
  std::vector<PetscInt> owner, index;
  copies_.clear();
  for (const SurfaceVertex& v : others) {
    owner.push_back(v.rank);
    index.push_back(v.index);
    copies_.push_back({v.rank, v.index});
  }
  const int owned = mesh_->num_owned_vertices();
  vertices_ = with_copies(*mesh_->owned_vertex_entities(), owner, index);
  make_fields();
  const int mesh_vertices = num_mesh_vertices();
  const auto place = [&](const SurfaceVertex& v) {
    if (v.rank < 0) return mesh_vertices + v.index;
    if (v.rank == rank_) return v.index;
    return owned +
           static_cast<int>(std::lower_bound(others.begin(), others.end(), v, has_lower_number) - others.begin());
  };
  numbers_.assign(static_cast<std::size_t>(mesh_vertices + num_obstacle_vertices_), -1);
  const auto placed = [&](const SurfaceVertex& v) {
    numbers_[static_cast<std::size_t>(place(v))] = v.number;
    return place(v);
  };

  std::vector<int> points, triangles, edges, point_groups, triangle_groups, edge_groups;
  std::vector<double> weights;
  for (const Surface* surface : {&body_, &obstacles_}) {
    for (const SurfaceVertex& point : surface->points) points.push_back(placed(point));
    point_groups.insert(point_groups.end(), surface->point_groups.begin(), surface->point_groups.end());
  }
  for (const auto& [triangle, group, to] : lists.triangles) {
    for (const SurfaceVertex& v : triangle.corners) triangles.push_back(placed(v));
    weights.insert(weights.end(), triangle.edge_weights.begin(), triangle.edge_weights.end());
    weights.insert(weights.end(), triangle.corner_weights.begin(), triangle.corner_weights.end());
    triangle_groups.push_back(group);
  }
  for (const auto& [edge, group, to] : lists.edges) {
    for (const SurfaceVertex& v : edge.ends) edges.push_back(placed(v));
    edge_groups.push_back(group);
  }
  pairs_.points = to_device("diffsim::contact::points", points);
  pairs_.triangles = to_device("diffsim::contact::triangles", triangles);
  pairs_.weights = to_device("diffsim::contact::weights", weights);
  pairs_.edges = to_device("diffsim::contact::edges", edges);
  pairs_.point_groups = to_device("diffsim::contact::point_groups", point_groups);
  pairs_.triangle_groups = to_device("diffsim::contact::triangle_groups", triangle_groups);
  pairs_.edge_groups = to_device("diffsim::contact::edge_groups", edge_groups);
  if (!bodies_.empty()) pairs_.bodies = to_device("diffsim::contact::bodies", bodies_of(numbers_, bodies_));
  if (!prescribed_bodies_.empty())
    pairs_.prescribed = to_device("diffsim::contact::prescribed", prescribed_of(*mesh_, numbers_, prescribed_bodies_));
  if (mesh_->num_global(CellKind::segment) + mesh_->num_global(CellKind::point) > 0)
    pairs_.dimensions = to_device("diffsim::contact::dimensions", dimensions_of(*mesh_, numbers_));
  measure();
}

void Candidates::set_rest(const std::vector<double>& areas, const Field& positions, const Vectors& obstacles) {
  areas_ = areas;
  rest_positions_ = &positions;
  rest_obstacles_ = obstacles;
  if (rebuilds_ > 0) measure();
}

void Candidates::measure() {
  std::vector<double> areas;
  for (const SurfaceVertex& point : body_.points) areas.push_back(0.5 * areas_[static_cast<std::size_t>(point.index)]);
  for (const double area : obstacles_.point_areas) areas.push_back(0.5 * area);
  pairs_.areas = to_device("diffsim::contact::areas", areas);
  rest_ = gather(*rest_positions_, rest_obstacles_);
  pairs_.lengths = make_device_array<double>("diffsim::contact::lengths", pairs_.edges.size() / 2);
  set_lengths(pairs_.edges, rest_, pairs_.lengths);
}

Vectors Candidates::gather(const Field& local, const Vectors& obstacles) const {
  const int owned = 3 * mesh_->num_owned_vertices(), all = 3 * num_mesh_vertices();
  if (ranks_ > 1) {
    copy_vectors(local.data(), ring_.data(), owned);
    vertices_->exchange()->copy_to_ghosts(ring_);
  }
  const auto result =
      pool_.take<double>("diffsim::contact::vectors", static_cast<std::size_t>(all + 3 * num_obstacle_vertices_));
  copy_vectors(ranks_ > 1 ? ring_.data() : local.data(), result.data(), all);
  copy_vectors(obstacles.data(), result.data() + all, 3 * num_obstacle_vertices_);
  return result;
}

Field& Candidates::shares() const {
  shares_.fill(0.0);
  return shares_;
}

void Candidates::scatter(Field& shares, Field& local) const {
  vertices_->exchange()->add_to_owners(shares);
  add_vectors(shares.data(), local.data(), 3 * mesh_->num_owned_vertices());
}

DeviceArray<CandidatePair> Candidates::edge_triangle_pairs(const Vectors& positions) const {
  const int obstacle_edges = static_cast<int>(obstacles_.edges.size());
  const int obstacle_triangles = static_cast<int>(obstacles_.triangles.size());
  DeviceArray<CandidatePair> found;
  collectively(mesh_->comm(), [&] {
    const BoxTree tree(boxes_of(pairs_.triangles, 3, positions, positions, 0.0));
    const DeviceArray<Box> boxes = boxes_of(pairs_.edges, 2, positions, positions, 0.0);
    found =
        find_pairs(tree, boxes,
                   KeepEdgeTriangle{pairs_, num_owned_edges_, static_cast<int>(boxes.size()) - obstacle_edges,
                                    static_cast<int>(body_.triangles.size()), tree.size() - obstacle_triangles, self_},
                   max_pairs_, "edges and triangles");
  });
  return found;
}

}  // namespace diffsim::contact
