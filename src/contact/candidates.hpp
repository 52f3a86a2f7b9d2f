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
/// vertices of this rank's pairs (see PairView): this rank's owned vertices, copies of other ranks' vertices, vertices
/// of obstacles.
using Vectors = DeviceArray<double>;

/// Point–triangle pairs and edge–edge pairs of this rank that may touch. The object is passed by value to kernels.
/// Vertices are numbered in this order: this rank's owned vertices, copies of other ranks' vertices, vertices of
/// obstacles. Pair p is a point–triangle pair for p < point_triangle.size(), else an edge–edge pair. Segments and
/// points of surfaces without triangles are stored as triangles with equal corners (contact/surface.hpp).
struct PairView {
  DeviceArray<CandidatePair> point_triangle, edge_edge;
  DeviceArray<int> points, triangles, edges;  // indices of vertices: [points], [triangles, 3], [edges, 2]
  DeviceArray<double> areas;                  // [points]: half of the rest measure (Surface::point_areas)
  DeviceArray<double> weights;                // [triangles, 6]: weights of the edges, then of the corners
  DeviceArray<double> lengths;                // [edges]: squared rest lengths, m²
  DeviceArray<int> bodies;                    // [vertices]: index of the body or obstacle; empty if there is one body
  // Indices of the groups of the points, triangles and edges. A group is a region, a body or an obstacle; the two
  // groups of a pair determine the contact law of the pair.
  DeviceArray<int> point_groups, triangle_groups, edge_groups;
  // [vertices]: 1 for vertices of obstacles and of bodies that act as obstacles; there is no contact between two such
  // vertices. Empty if no body acts as an obstacle.
  DeviceArray<std::uint8_t> prescribed;
  // [vertices]: dimension of the surface that the vertex belongs to, 2 for triangles, 1 for segments, 0 for points.
  // Empty if the mesh has no cells that are segments or points; all dimensions are then 2.
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
  /// Returns true if the vertices a and b belong to the same body. Neither vertex may belong to an obstacle.
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
  /// Factor by which half of the point's rest measure is multiplied to obtain the weight of the point–triangle pair p.
  /// If the triangle's surface has a higher dimension than the point's surface, the factor is 2, because the energy is
  /// then integrated over the points of the point's surface only. Otherwise the factor is 1, because the energy is
  /// integrated over the points of both surfaces.
  KOKKOS_INLINE_FUNCTION double share(int p) const {
    const CandidatePair pair = point_triangle(p);
    return dimension(triangles(3 * pair.leaf)) > dimension(points(pair.query)) ? 2.0 : 1.0;
  }
  /// Sets `group` [2] to the indices of the groups of the two sides of pair p: of its point and its triangle, or of its
  /// two edges.
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
/// numbers increase from one body or obstacle to the next. Each point, triangle and edge belongs to a group. Groups are
/// numbered: first the regions and bodies of the mesh (contact/surface_groups.hpp), then one group for each obstacle.
///
/// The function `rendezvous` (contact/rendezvous.hpp) finds the pairs of ranks whose surfaces come near each other.
/// Each rank of such a pair of ranks sends the other rank the triangles and edges that come near the other rank's
/// surface. A point–triangle pair belongs to the rank of its point, an edge–edge pair to the rank of the edge with the
/// lower vertex numbers. If the point belongs to an obstacle, the pair belongs to the rank of the triangle; if one edge
/// belongs to an obstacle, the pair belongs to the rank of the body's edge.
///
/// The function `cover` builds the lists of pairs for a distance `range`, and for the bounding box of the displacement
/// of each vertex. Each box is enlarged by a margin on each side, the slack, which is `range`/2. As long as all
/// vertices stay in their enlarged boxes, the lists contain all pairs that may come nearer than `range`. A later call
/// of `cover` builds the lists again if a vertex leaves its enlarged box, or if `range` is larger than before.
class Candidates {
 public:
  /// Prepares the search. `self`: true if the search includes pairs whose two sides belong to the same body. `bodies`:
  /// the first vertex number of each body, then of each obstacle; empty if the mesh has only one body. `regions`:
  /// regions of the surface that form groups, as in `surface_groups`. `max_pairs`: maximum number of pairs of each kind
  /// (point–triangle, edge–edge) on a rank. Throws Error (input) if a region has no face of the surface, or if two
  /// regions have a common face. Collective.
  Candidates(const TetrahedralMesh& mesh, bool self, const std::vector<Surface>& obstacles,
             const std::vector<std::int64_t>& bodies, const std::vector<std::string>& regions, std::int64_t max_pairs);

  /// Sets the bodies, by index in the mesh's list of bodies, that act as obstacles. Such a body touches neither itself,
  /// nor another such body, nor an obstacle. Call this function before the first call of `cover`.
  void set_prescribed(const std::vector<std::size_t>& bodies) { prescribed_bodies_ = bodies; }
  /// Sets the pairs of groups without contact. `ignored` [groups, groups] is 1 for two groups whose contact is ignored,
  /// else 0. Call this function before the first call of `cover`.
  void set_ignored(const std::vector<std::uint8_t>& ignored, int groups) {
    pairs_.ignored = to_device("diffsim::contact::ignored", ignored);
    pairs_.num_groups = groups;
  }
  /// Restricts the forces of pairs to friction; the pairs then exert no barrier forces.
  void set_friction_alone() { pairs_.friction_alone = true; }
  /// Sets the rest shape: `areas` [owned vertices], the rest measures of the vertices (see contact::RestAreas);
  /// `positions` [local vertices, 3], the rest positions of the mesh; and `obstacles` [obstacle vertices, 3], the
  /// reference positions of the obstacles. Stores a pointer to `positions`, not a copy. Collective.
  void set_rest(const std::vector<double>& areas, const Field& positions, const Vectors& obstacles);
  /// Ensures that the lists contain all pairs that come nearer than `range` (m) while all vertices move along straight
  /// lines from `from` to `to`. The positions of the mesh are fields [local vertices, 3]; the positions of obstacles
  /// are arrays [obstacle vertices, 3]. Collective.
  void cover(const Field& from, const Vectors& obstacles_from, const Field& to, const Vectors& obstacles_to,
             double range);

  /// Pool for arrays whose size depends on the number of pairs, which changes from step to step.
  ArrayPool& pool() const { return pool_; }
  /// Returns one vector for each vertex of the pairs, in the order of PairView: the values of the field `local` at
  /// owned vertices, the values of `local` at copies of other ranks' vertices, which their owners send, and the vectors
  /// `obstacles` [obstacle vertices, 3]. Collective.
  Vectors gather(const Field& local, const Vectors& obstacles) const;
  /// Sums the contributions `shares` [num_mesh_vertices, 3] of all ranks at each vertex, and adds the sums at owned
  /// vertices to `local`. Collective.
  void scatter(Field& shares, Field& local) const;
  /// Returns a field of zeros [num_mesh_vertices, 3]. The caller adds the contributions of this rank's pairs to the
  /// field and passes the field to `scatter`. The field is valid until the next call of `shares`.
  Field& shares() const;

  int num_owned_vertices() const { return static_cast<int>(vertices_->owned()); }
  int num_mesh_vertices() const { return static_cast<int>(vertices_->local()); }
  /// Owner, and local number on the owner, of each copy of another rank's vertex. Copies are numbered after the owned
  /// vertices.
  const std::vector<VertexLocation>& copies() const { return copies_; }
  /// Rest positions of all vertices of the pairs, in the order of PairView; for obstacles, reference positions.
  const Vectors& rest() const { return rest_; }
  /// Part of the mesh's surface on this rank.
  const Surface& surface() const { return body_; }
  /// Corners of the triangles, segments and points of `surface()`, as local indices of the mesh's vertices.
  const std::vector<std::array<int, 3>>& local_triangles() const { return local_triangles_; }
  int num_obstacle_vertices() const { return num_obstacle_vertices_; }
  const PairView& pairs() const { return pairs_; }
  /// Returns the pairs of an edge and a triangle whose bounding boxes overlap at `positions`, for the search for
  /// intersections. The edges are the edges owned by this rank and the edges of obstacles. Collective.
  DeviceArray<CandidatePair> edge_triangle_pairs(const Vectors& positions) const;
  /// Returns the number of the vertex with the index `vertex` in the order of PairView. Vertices of the mesh have their
  /// number in the mesh file; the numbers of the vertices of obstacles follow.
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
  std::vector<double> areas_;  // rest measures, [owned vertices]
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
