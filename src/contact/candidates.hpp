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

/// Array [vertices, 3] of positions or other vectors. The vertices of an array Vectors are, unless stated otherwise,
/// those of PairView, in this order: this rank's owned vertices, copies of other ranks' vertices, vertices of
/// obstacles.
using Vectors = DeviceArray<double>;

/// Point–triangle pairs and edge–edge pairs of this rank that may touch. A PairView is passed by value to kernels. The
/// vertices of a PairView are numbered in this order: this rank's owned vertices, copies of other ranks' vertices,
/// vertices of obstacles. Pair p of a PairView is a point–triangle pair for p < `point_triangle.size()`, else an
/// edge–edge pair. Segments and points of surfaces without triangles are stored as triangles with coincident corners
/// (contact/surface.hpp).
struct PairView {
  DeviceArray<CandidatePair> point_triangle, edge_edge;
  DeviceArray<int> points, triangles, edges;  // indices of vertices: [points], [triangles, 3], [edges, 2]
  DeviceArray<double> areas;                  // [points]: half of Surface::point_areas
  DeviceArray<double> weights;                // [triangles, 6]: weights of the edges, then of the corners
  DeviceArray<double> lengths;                // [edges]: squared rest lengths, m²
  DeviceArray<int> bodies;                    // [vertices]: index of the body or obstacle; empty if there is one body
  // Indices of the groups of the points, triangles and edges. A group is a region, a body or an obstacle; the two
  // groups of a pair determine the contact law of the pair.
  DeviceArray<int> point_groups, triangle_groups, edge_groups;
  // [vertices]: 1 for vertices of obstacles and of prescribed bodies; there is no contact between two such vertices.
  // Empty if no body is prescribed.
  DeviceArray<std::uint8_t> prescribed;
  // [vertices]: dimension of the surface that the vertex belongs to, 2 for triangles, 1 for segments, 0 for points.
  // Empty if the mesh has no cells that are segments or points; all dimensions are then 2.
  DeviceArray<std::uint8_t> dimensions;
  // [groups, groups]: 1 for two groups whose contact is ignored; empty if no contact is ignored.
  DeviceArray<std::uint8_t> ignored;
  int num_groups = 1;
  bool friction_alone = false;  // true: pairs exert friction and damping, but no normal forces

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
  /// Returns true if the vertices a and b belong to the same body. The vertices a and b must not belong to obstacles.
  KOKKOS_INLINE_FUNCTION bool together(int a, int b) const { return bodies.size() == 0 || bodies(a) == bodies(b); }
  /// Returns true if at least one body is prescribed (all vertices of the body have prescribed positions) and each of
  /// the vertices a and b belongs to an obstacle or to a prescribed body.
  KOKKOS_INLINE_FUNCTION bool both_prescribed(int a, int b) const {
    return prescribed.size() > 0 && prescribed(a) != 0 && prescribed(b) != 0;
  }
  /// Returns true if contact between the surface groups a and b (each a region, a body or an obstacle) is ignored.
  KOKKOS_INLINE_FUNCTION bool ignores(int a, int b) const {
    return ignored.size() > 0 && ignored(num_groups * a + b) != 0;
  }
  /// Dimension of the surface that a vertex belongs to: 2 for a surface of triangles, 1 for segments, 0 for points.
  KOKKOS_INLINE_FUNCTION int dimension(int vertex) const {
    return dimensions.size() == 0 ? 2 : static_cast<int>(dimensions(vertex));
  }
  /// Ratio of the weight `area` of point–triangle pair p (see PointTriangleWeightsOf) to half of the point's rest
  /// measure (`Surface::point_areas`): 2 if the triangle's surface has a higher dimension than the point's surface,
  /// else 1. The contact energy of two surfaces is integrated over the points of both surfaces if the surfaces have the
  /// same dimension, else over the points of the lower-dimensional surface only.
  KOKKOS_INLINE_FUNCTION double share(int p) const {
    const CandidatePair pair = point_triangle(p);
    return dimension(triangles(3 * pair.leaf)) > dimension(points(pair.query)) ? 2.0 : 1.0;
  }
  /// Sets `group` [2] to the indices of the surface groups of pair p's point and triangle, or of pair p's two edges.
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

/// Search, across ranks, for point–triangle pairs and edge–edge pairs that may touch, on the surfaces of bodies and
/// obstacles. The vertices of each body or obstacle have consecutive numbers; vertex numbers increase from one body or
/// obstacle to the next. Each point, triangle and edge of a surface belongs to a group: a region of the mesh's surface,
/// a body or an obstacle. Surface groups are numbered in this order: regions and bodies of the mesh
/// (contact/surface_groups.hpp), obstacles.
///
/// The function `rendezvous` (contact/rendezvous.hpp) finds the pairs of ranks whose parts of the surface come near
/// each other. If the surface parts of two ranks come near each other, each of the two ranks sends the other rank those
/// triangles and edges that come near the other rank's part. A point–triangle pair is stored on the rank that owns the
/// point, an edge–edge pair on the rank that owns the edge with the lower vertex numbers. If the point of a
/// point–triangle pair belongs to an obstacle, the pair is stored on the rank that owns the triangle; if one edge of an
/// edge–edge pair belongs to an obstacle, the pair is stored on the rank that owns the body's edge.
///
/// The function `cover` builds the lists of candidate pairs for a distance `range` and for given displacements of the
/// vertices. The bounding box of each vertex's displacement is enlarged on each side by a margin, the slack, of half
/// the distance `range`, or of more if the vertices move fast (`new_slack`). As long as all vertices stay in their
/// enlarged bounding boxes, the lists contain all pairs that may come nearer than `range`. A later call of `cover`
/// builds the lists again if a vertex leaves its enlarged bounding box, or if `range` is larger than in the call that
/// built the lists.
class Candidates {
 public:
  /// Prepares the search. `self`: true if the search includes pairs within one body. `bodies`: the first vertex number
  /// of each body, then of each obstacle; empty if the mesh has only one body. `regions`: names of regions of the
  /// mesh's surface; each region forms a surface group (see `surface_groups`). `max_pairs`: maximum number of pairs of
  /// each kind (point–triangle, edge–edge) on a rank. Throws Error (input) if a region contains no face of the mesh's
  /// surface, or if two regions have a common face. Collective.
  Candidates(const TetrahedralMesh& mesh, bool self, const std::vector<Surface>& obstacles,
             const std::vector<std::int64_t>& bodies, const std::vector<std::string>& regions, std::int64_t max_pairs);

  /// Sets the prescribed bodies, whose vertices all have prescribed positions, by index in the mesh's list of bodies.
  /// Contact of a prescribed body with itself, with other prescribed bodies and with obstacles is ignored. Call
  /// `set_prescribed` before the first call of `cover`.
  void set_prescribed(const std::vector<std::size_t>& bodies) { prescribed_bodies_ = bodies; }
  /// Sets the pairs of surface groups whose contact is ignored. The array `ignored` [groups, groups] is 1 for two
  /// surface groups whose contact is ignored, else 0. Call `set_ignored` before the first call of `cover`.
  void set_ignored(const std::vector<std::uint8_t>& ignored, int groups) {
    pairs_.ignored = to_device("diffsim::contact::ignored", ignored);
    pairs_.num_groups = groups;
  }
  /// Restricts the forces of all pairs to friction and damping, without normal forces.
  void set_friction_alone() { pairs_.friction_alone = true; }
  /// Sets the rest shape: `areas` [owned vertices], the rest areas (on segments, lengths) of the vertices (see
  /// contact::RestAreas); `positions` [local vertices, 3], the rest positions of the mesh; and `obstacles` [obstacle
  /// vertices, 3], the reference positions of the obstacles. Stores a pointer to the field `positions`, not a copy.
  /// Collective.
  void set_rest(const std::vector<double>& areas, const Field& positions, const Vectors& obstacles);
  /// Ensures that the lists of candidate pairs contain all pairs that come nearer than `range` (m) while all vertices
  /// move along straight lines. Vertices of the mesh move from the positions `from` to the positions `to` [local
  /// vertices, 3], and vertices of obstacles from the positions `obstacles_from` to the positions `obstacles_to`
  /// [obstacle vertices, 3]. Collective.
  void cover(const Field& from, const Vectors& obstacles_from, const Field& to, const Vectors& obstacles_to,
             double range);

  /// Pool for arrays whose size depends on the number of pairs, which changes from step to step.
  ArrayPool& pool() const { return pool_; }
  /// Returns one vector for each vertex, in the order of PairView: the values of the field `local` at owned vertices,
  /// the values of `local` at copies of other ranks' vertices, received from the owners of the vertices, and the
  /// vectors `obstacles` [obstacle vertices, 3]. Collective.
  Vectors gather(const Field& local, const Vectors& obstacles) const;
  /// Sums the contributions `shares` [num_mesh_vertices, 3] of all ranks at each vertex, and adds the sums at owned
  /// vertices to the field `local`. Collective.
  void scatter(Field& shares, Field& local) const;
  /// Returns a field of zeros [num_mesh_vertices, 3]. The caller adds the contributions of this rank's pairs to the
  /// field and passes the field to `scatter`. The field that `shares` returns is valid until the next call of `shares`.
  Field& shares() const;

  int num_owned_vertices() const { return static_cast<int>(vertices_->owned()); }
  int num_mesh_vertices() const { return static_cast<int>(vertices_->local()); }
  /// Owner rank of each vertex of which this rank has a copy, and local index of the vertex on the owner rank. Copies
  /// of other ranks' vertices are numbered after the owned vertices.
  const std::vector<VertexLocation>& copies() const { return copies_; }
  /// Rest positions of all vertices, in the order of PairView; for obstacles, reference positions.
  const Vectors& rest() const { return rest_; }
  /// Part of the mesh's surface on this rank.
  const Surface& surface() const { return body_; }
  /// Corners of the triangles, segments and points of `surface()`, as local indices of the mesh's vertices.
  const std::vector<std::array<int, 3>>& local_triangles() const { return local_triangles_; }
  int num_obstacle_vertices() const { return num_obstacle_vertices_; }
  const PairView& pairs() const { return pairs_; }
  /// Returns the pairs of an edge and a triangle whose bounding boxes overlap at the vertex positions `positions`, for
  /// the search for intersections. The edge of each pair that `edge_triangle_pairs` returns is owned by this rank or
  /// belongs to an obstacle. Collective.
  DeviceArray<CandidatePair> edge_triangle_pairs(const Vectors& positions) const;
  /// Returns the global number of the surface vertex with the index `vertex` in the order of PairView. The global
  /// number of a mesh vertex is its number in the mesh file; the global numbers of obstacle vertices follow those of
  /// the mesh's vertices.
  std::int64_t number(int vertex) const { return numbers_[static_cast<std::size_t>(vertex)]; }
  int rebuilds() const { return rebuilds_; }

 private:
  struct Lists;
  /// Returns the largest distance (m), along a coordinate axis, by which a vertex of this rank is outside the box that
  /// the vertex swept when the lists were built; infinity for positions that are NaN.
  double farthest_out(const Field& at, const Vectors& obstacles) const;
  /// Stores the bounding box of each vertex's two positions, in `from` and `to` or, for vertices of obstacles, in
  /// `obstacles_from` and `obstacles_to`, for later calls of `farthest_out`.
  void watch(const std::vector<double>& from, const Vectors& obstacles_from, const std::vector<double>& to,
             const Vectors& obstacles_to);
  /// Returns max(n/m, 20 n/`max_pairs`), where n is the number of pairs and m the number of primitives (points and
  /// edges) on this rank.
  double crowding() const;
  /// Returns the slack (m) for new lists, chosen such that about 64 calls of `cover` use the same lists. The slack is
  /// at most half the mean edge length and at most twice the old slack (half the old slack if `crowding` > 1), but at
  /// least half of `range`. `moved`: largest distance (m) by which a vertex has left its box since the lists were
  /// built; infinity if unknown. `crowding`: maximum of `crowding()` over all ranks.
  double new_slack(double range, double moved, double crowding) const;
  /// Returns the mean length (m) of the edges of the surface at the positions `x`; 0 without edges. Collective.
  double mean_edge(const std::vector<double>& x) const;
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
  std::vector<double> areas_;  // argument `areas` of `set_rest`, [owned vertices]
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
  double range_ = -1.0, slack_ = 0.0, mean_edge_ = 0.0;
  int rebuilds_ = 0, calls_ = 0;  // calls of `cover` since the lists were built
};

}  // namespace diffsim::contact
