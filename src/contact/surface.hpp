// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Vertex of a surface: the number of the vertex in the mesh file, the rank that owns the vertex, and the local index
/// of the vertex on the owner rank. A vertex of an obstacle has the rank -1 and its index in the mesh of the obstacle.
/// The members of a SurfaceVertex have the same values on all ranks.
struct SurfaceVertex {
  std::int64_t number;
  std::int32_t rank, index;
};

/// Triangle of a surface, with weights for its edges and corners. The weights are chosen such that a sum over
/// triangles, edges and corners near a point counts the nearest part of the surface exactly once, although adjacent
/// triangles share edges and corners. The weight of an edge shared by n triangles is -(n - 1)/n. The weight of a corner
/// shared by k triangles is (1 - k + Σ_e (n_e - 1))/k, where the sum is over the edges e at the corner, and n_e is the
/// number of triangles at the edge e. For any function f that is zero beyond some range, consider the sum Σ w f(d) over
/// the triangles (weight w = 1), edges and corners of a surface, with their distances d from a point. The sum equals f
/// at the smallest distance if the part of the surface within the range of f has no holes. The weights follow from the
/// inclusion–exclusion principle (Li et al. 2023, Convergent Incremental Potential Contact, section 4).
///
/// Segments and points of surfaces without triangles are stored as triangles with coincident corners: a segment with
/// the ends a and b as (a, b, b), a point a as (a, a, a). The function `dimension` distinguishes triangles, segments
/// and points. An end shared by k segments has the weight -(k - 1)/k, so that the sum Σ w f(d) over the segments
/// (weight w = 1) of a line and their ends also equals f at the smallest distance.
struct SurfaceTriangle {
  std::array<SurfaceVertex, 3> corners;
  std::array<double, 3> edge_weights;  ///< weights of the triangle's edges from corner 0 to 1, 1 to 2, 2 to 0
  std::array<double, 3> corner_weights;

  /// Dimension of the surface piece: 2 for a triangle, 1 for a segment, 0 for a point.
  int dimension() const {
    return corners[1].number != corners[2].number ? 2 : corners[0].number != corners[1].number ? 1 : 0;
  }
};

struct SurfaceEdge {
  /// End vertices of the edge, in ascending order of vertex numbers for a mesh's surface.
  std::array<SurfaceVertex, 2> ends;
  double squared_length;  ///< squared rest length of the edge, m²
};

/// Part of a surface on one rank. Each point, edge and triangle of a mesh's surface is stored on exactly one rank; the
/// surface of an obstacle is stored completely on every rank.
struct Surface {
  std::vector<SurfaceVertex> points;
  /// Part of the surface that each point represents at rest: a third of the sum of the areas of the point's triangles
  /// (m²), half of the sum of the lengths of the point's segments (m), or the number of cells that consist of this
  /// point.
  std::vector<double> point_areas;
  std::vector<SurfaceTriangle> triangles;
  std::vector<SurfaceEdge> edges;
  // Index of the group of each point, triangle and edge: a region, a body or an obstacle (contact/surface_groups.hpp).
  std::vector<std::int32_t> point_groups, triangle_groups, edge_groups;
};

/// Returns this rank's part of the surface of a mesh. A surface point is stored on the rank that owns the point's
/// vertex. A boundary face of a tetrahedron, and a triangle, segment or point that is a cell itself
/// (contact/impl/surface_areas.hpp), is stored on the rank that owns the cell. An edge is stored on the lowest rank
/// that has a triangle or segment with this edge. Each of the regions `regions` forms a group of the surface, in
/// addition to one group for each body (`SurfaceGroups`). Throws Error (input) if a region contains no face of the
/// mesh's surface, or if two regions have a common face. Collective.
Surface mesh_surface(const TetrahedralMesh& mesh, const std::vector<std::string>& regions = {});

/// Returns the complete surface of an obstacle. All points, edges and triangles of the obstacle belong to one group,
/// with the index `group`. The vertex with the index v in the obstacle's mesh `mesh` has the number `first_number` + v,
/// the rank -1 and the index v.
Surface triangle_surface(const TriangleMesh& mesh, std::int64_t first_number, std::int32_t group = 0);

}  // namespace diffsim::contact
