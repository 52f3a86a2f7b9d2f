// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/box_tree_impl.hpp"
#include "diffsim/contact/pair_force.hpp"
#include "diffsim/contact/surface.hpp"
#include "diffsim/core/array_pool.hpp"
#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/exchange.hpp"
#include "diffsim/core/field.hpp"

namespace diffsim::contact {

/// Positions, or other vectors, of all vertices that this rank's pairs have: [vertices, 3].
using Vectors = DeviceArray<double>;

/// The pairs of this rank that may touch, by value in kernels. Vertices are numbered: this rank's owned ones, copies of
/// others', obstacles'. Pair p is point–triangle for p < point_triangle.size(), else edge–edge. Segments and points of
/// surfaces without triangles are triangles with equal corners (contact/surface.hpp).
struct PairView {
  DeviceArray<CandidatePair> point_triangle, edge_edge;
  DeviceArray<int> points, triangles, edges;  // [., 1], [., 3], [., 2] vertices
  DeviceArray<double> areas;                  // [points]: half of each
  DeviceArray<double> weights;                // [triangles, 6]: of edges, of corners
  DeviceArray<double> lengths;                // [edges]: squared, at rest
  DeviceArray<int> bodies;                    // [vertices]: bodies and obstacles; empty: all are of one
  DeviceArray<int> point_groups, triangle_groups, edge_groups;  // by which pairs have laws
  DeviceArray<std::uint8_t> prescribed;  // [vertices]: of obstacles, which do not touch each other; empty: none
  DeviceArray<std::uint8_t> dimensions;  // [vertices]: of the surface that a vertex is of; empty: all are of triangles
  DeviceArray<std::uint8_t> ignored;     // [groups, groups]: of groups that do not touch; empty: none
  int num_groups = 1;
  bool friction_alone = false;  // forces are friction's without the barrier's

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
  /// Whether two vertices are of one body.
  KOKKOS_INLINE_FUNCTION bool together(int a, int b) const { return bodies.size() == 0 || bodies(a) == bodies(b); }
  /// Whether two vertices are both of obstacles.
  KOKKOS_INLINE_FUNCTION bool both_prescribed(int a, int b) const {
    return prescribed.size() > 0 && prescribed(a) != 0 && prescribed(b) != 0;
  }
  /// Whether two groups do not touch each other.
  KOKKOS_INLINE_FUNCTION bool ignores(int a, int b) const {
    return ignored.size() > 0 && ignored(num_groups * a + b) != 0;
  }
  /// Dimension of the surface that a vertex is of: 2 of triangles, 1 of segments, 0 of points.
  KOKKOS_INLINE_FUNCTION int dimension(int vertex) const {
    return dimensions.size() == 0 ? 2 : static_cast<int>(dimensions(vertex));
  }
  /// Factor of half of a point's area, length or number: 2 where the point alone integrates over the pair.
  KOKKOS_INLINE_FUNCTION double share(int p) const {
    const CandidatePair pair = point_triangle(p);
    return dimension(triangles(3 * pair.leaf)) > dimension(points(pair.query)) ? 2.0 : 1.0;
  }
  /// Groups of the two things of pair p.
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

/// Finds the pairs of surfaces of bodies and obstacles that may touch, across ranks. A body, and an obstacle, has the
/// vertices with the numbers from its first up to the next one's. Groups are those of contact/surface_groups.hpp, after
/// which each obstacle is one.
///
/// Ranks that touch find each other (rendezvous.hpp) and send the triangles and edges that come near the other
/// rank's; a point–triangle pair belongs to the rank of its point, an edge–edge pair to the rank of the edge with the
/// lower numbers (an obstacle's points to the triangle's rank, its edges to the body's). The lists hold all that may
/// come within the range while no vertex leaves the box it swept when they were made by more than a slack; they are
/// made again when one does.
class Candidates {
 public:
  /// `self`: pairs within a body, too. `bodies`: the first number of each body and obstacle; empty where all vertices
  /// are one body's. `regions` of the surface are groups. Throws Error as `surface_groups` does. Collective.
  Candidates(const TetrahedralMesh& mesh, bool self, const std::vector<Surface>& obstacles,
             const std::vector<std::int64_t>& bodies, const std::vector<std::string>& regions, std::int64_t max_pairs);

  /// Bodies, by their places in the mesh's list, that touch neither themselves, each other nor obstacles: obstacles
  /// that are bodies. To be called before the lists are made.
  void set_prescribed(const std::vector<std::size_t>& bodies) { prescribed_bodies_ = bodies; }
  /// Groups that do not touch each other: [groups, groups], 1 where two do not. To be called before the lists are made.
  void set_ignored(const std::vector<std::uint8_t>& ignored, int groups) {
    pairs_.ignored = to_device("diffsim::contact::ignored", ignored);
    pairs_.num_groups = groups;
  }
  /// Makes forces of pairs those of friction alone.
  void set_friction_alone() { pairs_.friction_alone = true; }
  /// Sets the rest shape: areas of points, [owned vertices], m², and positions, [local vertices, 3] of the mesh, with
  /// the obstacles' [obstacle vertices, 3]. Collective.
  void set_rest(const std::vector<double>& areas, const Field& positions, const Vectors& obstacles);
  /// Makes sure that the lists hold all pairs that come within `range` on straight ways `from` to `to`, fields [local
  /// vertices, 3] of the mesh and obstacles' positions [obstacle vertices, 3] likewise. Collective.
  void cover(const Field& from, const Vectors& obstacles_from, const Field& to, const Vectors& obstacles_to,
             double range);

  /// Arrays for results at the pairs, whose sizes change from step to step.
  ArrayPool& pool() const { return pool_; }
  /// The vectors of all vertices of the pairs, from those of the mesh. Collective.
  Vectors gather(const Field& local, const Vectors& obstacles) const;
  /// `local` += what was summed for the vertices [num_mesh_vertices, 3], complete at owners. Collective.
  void scatter(Field& shares, Field& local) const;
  /// Zeroed, for `scatter`; valid until the next call.
  Field& shares() const;

  int num_owned_vertices() const { return static_cast<int>(vertices_->owned()); }
  int num_mesh_vertices() const { return static_cast<int>(vertices_->local()); }
  /// The mesh's vertices that are copies, after the owned ones.
  const std::vector<VertexPlace>& copies() const { return copies_; }
  /// The rest shape of all vertices of the pairs.
  const Vectors& rest() const { return rest_; }
  /// This rank's part of the mesh's surface.
  const Surface& surface() const { return body_; }
  /// Corners of this rank's triangles, segments and points of that, in the mesh's local vertices.
  const std::vector<std::array<int, 3>>& local_triangles() const { return local_triangles_; }
  int num_obstacle_vertices() const { return num_obstacle_vertices_; }
  const PairView& pairs() const { return pairs_; }
  /// Edges against triangles whose boxes overlap now, for a check of intersections: owned and obstacle edges.
  DeviceArray<CandidatePair> edge_triangle_pairs(const Vectors& positions) const;
  /// The number in the file of a vertex; obstacles' follow.
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
  std::vector<std::array<int, 1>> lone_points_;  // owned points of the surface, whose triangles other ranks have
  Surface obstacles_;                            // all of them
  int num_obstacle_vertices_ = 0;
  std::shared_ptr<const Entities> vertices_;  // of the mesh: owned ones, then copies of others' near by
  std::vector<VertexPlace> copies_;
  std::vector<double> areas_;  // [owned vertices]
  const Field* rest_positions_ = nullptr;
  Vectors rest_obstacles_, rest_;
  PairView pairs_;
  std::vector<std::int64_t> numbers_;
  DeviceArray<int> watched_;     // owned surface vertices
  DeviceArray<Box> watched_at_;  // what they swept; then obstacles' vertices
  int num_owned_edges_ = 0;
  mutable ArrayPool pool_;
  mutable Field ring_, shares_;  // on the vertices of the pairs that are the mesh's
  double range_ = -1.0, slack_ = 0.0;
  int rebuilds_ = 0;
};

}  // namespace diffsim::contact
