// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contact/box_tree_impl.hpp"
#include "contact/pair_force.hpp"
#include "contact/surface.hpp"
#include "core/array_pool.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim::contact {

/// Array of positions or other vectors, [vertices, 3]. Unless a comment states another shape, the vertices are all
/// vertices of this rank's pairs, in the order of PairView.
using Vectors = DeviceArray<double>;

/// Pairs of this rank that may touch, passed by value to kernels. Vertices are numbered in this order: this rank's
/// owned vertices, copies of other ranks' vertices, vertices of obstacles. Pair p is a point–triangle pair for
/// p < point_triangle.size(), else an edge–edge pair. Segments and points of surfaces without triangles are stored as
/// triangles with equal corners (contact/surface.hpp).
struct PairView {
  DeviceArray<CandidatePair> point_triangle, edge_edge;
  DeviceArray<int> points, triangles, edges;  // vertices: [points], [triangles, 3], [edges, 2]
  DeviceArray<double> areas;                  // [points]: half of the point's rest measure
  DeviceArray<double> weights;                // [triangles, 6]: weights of the edges, then of the corners
  DeviceArray<double> lengths;                // [edges]: squared rest lengths, m²
  DeviceArray<int> bodies;                    // [vertices]: index of the body or obstacle; empty if there is one body
  // Groups of the primitives; the groups of two primitives determine the contact law of their pair.
  DeviceArray<int> point_groups, triangle_groups, edge_groups;
  // [vertices]: 1 for vertices of obstacles and of bodies that act as obstacles; these do not touch each other. Empty
  // if no body acts as an obstacle.
  DeviceArray<std::uint8_t> prescribed;
  // [vertices]: dimension of the surface that the vertex belongs to; empty if the dimension is 2 for all vertices.
  DeviceArray<std::uint8_t> dimensions;
  // [groups, groups]: 1 for two groups whose contact is ignored; empty if no contact is ignored.
  DeviceArray<std::uint8_t> ignored;
  int num_groups = 1;
  bool friction_alone = false;  // true: pairs exert friction but no barrier forces

  KOKKOS_INLINE_FUNCTION int size() const { return static_cast<int>(point_triangle.size() + edge_edge.size()); }
  KOKKOS_INLINE_FUNCTION bool is_point_triangle(int p) const { return p < static_cast<int>(point_triangle.size()); }
  KOKKOS_INLINE_FUNCTION void vertices(int p, int* v) const {
    if (is_point_triangle(p)) {
      v[0] = points(point_triangle(p).query);
      for (int k = 0; k < 3; ++k) v[1 + k] = triangles(3 * point_triangle(p).leaf + k);
    } else {
      const CandidatePair pair = edge_edge(p - static_cast<int>(point_triangle.size()));
      for (int k = 0; k < 2; ++k) {
        v[k] = edges(2 * pair.query + k);
        v[2 + k] = edges(2 * pair.leaf + k);
      }
    }
  }
  /// Returns true if two vertices of bodies, which are not vertices of obstacles, belong to the same body.
  KOKKOS_INLINE_FUNCTION bool together(int a, int b) const { return bodies.size() == 0 || bodies(a) == bodies(b); }
  /// Returns true if both vertices belong to obstacles or to bodies that act as obstacles. Always returns false if no
  /// body acts as an obstacle.
  KOKKOS_INLINE_FUNCTION bool both_prescribed(int a, int b) const {
    return prescribed.size() > 0 && prescribed(a) != 0 && prescribed(b) != 0;
  }
  /// Returns true if contact between the groups a and b is ignored.
  KOKKOS_INLINE_FUNCTION bool ignores(int a, int b) const {
    return ignored.size() > 0 && ignored(num_groups * a + b) != 0;
  }
  /// Dimension of the surface that a vertex belongs to: 2 for triangles, 1 for segments, 0 for points.
  KOKKOS_INLINE_FUNCTION int dimension(int vertex) const {
    return dimensions.size() == 0 ? 2 : static_cast<int>(dimensions(vertex));
  }
  /// Factor by which the entry of `areas` for the point of the point–triangle pair p is multiplied. If the triangle's
  /// surface has a higher dimension than the point's surface, the factor is 2, because the energy is then integrated
  /// over the points of the point's surface only. Otherwise the factor is 1.
  KOKKOS_INLINE_FUNCTION double share(int p) const {
    const CandidatePair pair = point_triangle(p);
    return dimension(triangles(3 * pair.leaf)) > dimension(points(pair.query)) ? 2.0 : 1.0;
  }
  /// Sets `group` [2] to the groups of the two primitives of pair p.
  KOKKOS_INLINE_FUNCTION void groups(int p, int* group) const {
    const bool is_point = is_point_triangle(p);
    const CandidatePair pair = is_point ? point_triangle(p) : edge_edge(p - static_cast<int>(point_triangle.size()));
    group[0] = is_point ? point_groups(pair.query) : edge_groups(pair.query);
    group[1] = is_point ? triangle_groups(pair.leaf) : edge_groups(pair.leaf);
  }
  KOKKOS_INLINE_FUNCTION PointTriangleWeights point_triangle_weights(int p) const {
    const CandidatePair pair = point_triangle(p);
    PointTriangleWeights result;
    result.area = share(p) * areas(pair.query);
    result.codimension = 2 - dimension(points(pair.query));
    for (int k = 0; k < 3; ++k) {
      result.edges[k] = weights(6 * pair.leaf + k);
      result.corners[k] = weights(6 * pair.leaf + 3 + k);
    }
    return result;
  }
  KOKKOS_INLINE_FUNCTION EdgeEdgeWeights edge_edge_weights(int p) const {
    const CandidatePair pair = edge_edge(p - static_cast<int>(point_triangle.size()));
    return {mollifier_threshold(lengths(pair.query), lengths(pair.leaf)),
            dimension(edges(2 * pair.query)) == 1 || dimension(edges(2 * pair.leaf)) == 1};
  }
};

/// Search, across ranks, for point–triangle pairs and edge–edge pairs that may touch. The points, triangles and edges
/// belong to the surfaces of bodies and obstacles. The vertices of each body or obstacle have consecutive numbers;
/// numbers increase from one body or obstacle to the next. Groups of primitives are numbered: first the groups of the
/// mesh (contact/surface_groups.hpp), then one group for each obstacle.
///
/// The function `rendezvous` (contact/rendezvous.hpp) finds the pairs of ranks whose surfaces come near each other.
/// Each rank of such a pair of ranks sends the other rank the triangles and edges that come near the other rank's
/// surface. A point–triangle pair belongs to the rank of its point, an edge–edge pair to the rank of the edge with the
/// lower vertex numbers. If the point belongs to an obstacle, the pair belongs to the rank of the triangle; if one edge
/// belongs to an obstacle, the pair belongs to the rank of the body's edge.
///
/// The lists of pairs are built for the boxes that the vertices sweep, enlarged by a margin that is called the slack,
/// and for a distance `range`; the slack is half of this distance. As long as no vertex leaves its box by more than the
/// slack, the lists contain all pairs that may come nearer than `range`. The lists are built again when a vertex leaves
/// its box by more than the slack, or when `cover` is called with a larger `range`.
class Candidates {
 public:
  /// Prepares the search. `self`: true if pairs within a body are included. `bodies`: the first vertex number of each
  /// body and obstacle; empty if all vertices belong to one body. `regions`: regions of the surface that form groups,
  /// as in `surface_groups`. `max_pairs`: maximum number of pairs of each kind on a rank. Throws the same Errors as
  /// `surface_groups`. Collective.
  Candidates(const TetrahedralMesh& mesh, bool self, const std::vector<Surface>& obstacles,
             const std::vector<std::int64_t>& bodies, const std::vector<std::string>& regions, std::int64_t max_pairs);

  /// Sets the bodies, by index in the mesh's list of bodies, that act as obstacles. Such a body touches neither itself
  /// nor any other obstacle. Call this function before the first call of `cover`.
  void set_prescribed(const std::vector<std::size_t>& bodies) { prescribed_bodies_ = bodies; }
  /// Sets the groups that do not touch each other. `ignored` [groups, groups] is 1 for two groups whose contact is
  /// ignored, else 0. Call this function before the first call of `cover`.
  void set_ignored(const std::vector<std::uint8_t>& ignored, int groups) {
    pairs_.ignored = to_device("diffsim::contact::ignored", ignored);
    pairs_.num_groups = groups;
  }
  /// Restricts the forces of pairs to friction; the pairs then exert no barrier forces.
  void set_friction_alone() { pairs_.friction_alone = true; }
  /// Sets the rest shape: the measures of points [owned vertices], the positions of the mesh [local vertices, 3], and
  /// the positions of the obstacles [obstacle vertices, 3]. Stores a pointer to `positions`, not a copy. Collective.
  void set_rest(const std::vector<double>& areas, const Field& positions, const Vectors& obstacles);
  /// Ensures that the lists contain all pairs that come nearer than `range` (m) while all vertices move along straight
  /// lines from `from` to `to`. The positions of the mesh are fields [local vertices, 3]; the positions of obstacles
  /// are arrays [obstacle vertices, 3]. Collective.
  void cover(const Field& from, const Vectors& obstacles_from, const Field& to, const Vectors& obstacles_to,
             double range);

  /// Pool of arrays for results with one entry per pair; the number of pairs changes from step to step.
  ArrayPool& pool() const { return pool_; }
  /// Returns one vector for each vertex of the pairs, in the order of the vertices (PairView): the values of `local` at
  /// the mesh's owned vertices, the values at the copies of other ranks' vertices, and `obstacles`. The owners send the
  /// values at the copies. Collective.
  Vectors gather(const Field& local, const Vectors& obstacles) const;
  /// Sums `shares` [num_mesh_vertices, 3] over the ranks, and adds the sums of owned vertices to `local`. Collective.
  void scatter(Field& shares, Field& local) const;
  /// Returns a field of zeros, to which the caller adds contributions of pairs before a call of `scatter`. The field is
  /// valid until the next call of `shares`.
  Field& shares() const;

  int num_owned_vertices() const { return static_cast<int>(vertices_->owned()); }
  int num_mesh_vertices() const { return static_cast<int>(vertices_->local()); }
  /// Owner, and local number on the owner, of each copy of another rank's vertex. Copies are numbered after the owned
  /// vertices.
  const std::vector<VertexLocation>& copies() const { return copies_; }
  /// Rest positions of all vertices of the pairs.
  const Vectors& rest() const { return rest_; }
  /// Part of the mesh's surface on this rank.
  const Surface& surface() const { return body_; }
  /// Corners of the triangles, segments and points of `surface()`, as local vertices of the mesh.
  const std::vector<std::array<int, 3>>& local_triangles() const { return local_triangles_; }
  int num_obstacle_vertices() const { return num_obstacle_vertices_; }
  const PairView& pairs() const { return pairs_; }
  /// Returns the pairs of an edge and a triangle whose boxes overlap at `positions`, for the check of intersections.
  /// The edges are the edges owned by this rank and the edges of obstacles. Collective.
  DeviceArray<CandidatePair> edge_triangle_pairs(const Vectors& positions) const;
  /// Number of a vertex in the mesh file. The vertices of obstacles are numbered after the vertices of the mesh.
  std::int64_t number(int vertex) const { return numbers_[static_cast<std::size_t>(vertex)]; }
  int rebuilds() const { return rebuilds_; }

 private:
  struct Lists;
  bool covered(const Field& at, const Vectors& obstacles, double range) const;
  void import_primitives(const std::vector<double>& from, const std::vector<double>& to, double reach,
                         Lists& lists) const;
  void number_vertices(Lists& lists);
  void make_fields();
  void measure();

  const TetrahedralMesh* mesh_;
  bool self_;
  std::vector<std::int64_t> bodies_;
  std::vector<std::size_t> prescribed_bodies_;
  std::int64_t max_pairs_;
  int rank_ = 0, ranks_ = 1;
  Surface body_;
  std::vector<std::array<int, 3>> local_triangles_;  // corners of body_.triangles in the mesh's local vertices
  std::vector<std::array<int, 2>> local_edges_;
  // Owned points of the surface whose triangles are all on other ranks.
  std::vector<std::array<int, 1>> lone_points_;
  Surface obstacles_;  // surfaces of all obstacles
  int num_obstacle_vertices_ = 0;
  // Vertices of the mesh: owned vertices, then copies of nearby vertices of other ranks.
  std::shared_ptr<const Entities> vertices_;
  std::vector<VertexLocation> copies_;
  std::vector<double> areas_;  // [owned vertices]
  const Field* rest_positions_ = nullptr;
  Vectors rest_obstacles_, rest_;
  PairView pairs_;
  std::vector<std::int64_t> numbers_;
  DeviceArray<int> watched_;  // owned surface vertices
  // Boxes that the vertices `watched_` swept when the lists were built, then the boxes that the vertices of obstacles
  // swept.
  DeviceArray<Box> watched_at_;
  int num_owned_edges_ = 0;
  mutable ArrayPool pool_;
  mutable Field ring_, shares_;  // fields on `vertices_`
  double range_ = -1.0, slack_ = 0.0;
  int rebuilds_ = 0;
};

}  // namespace diffsim::contact
