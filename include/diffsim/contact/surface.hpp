// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/polygon_reader.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// A vertex of a surface, the same on all ranks: its number in the file, and where its owner keeps it.
struct SurfaceVertex {
  std::int64_t number;
  std::int32_t rank, index;
};

/// Weights by which sums over the triangles near a point count what lies on several of them once: a triangle's edge
/// that n triangles share has -(n - 1)/n, its corner with k triangles and edges e of n_e each (1 - k + Σ_e (n_e -
/// 1))/k. Then, for any point, Σ over triangles, their edges and their corners of weight times a function of the
/// distance is that function of the least distance, as long as it reaches a piece of the surface without holes: the
/// triangles' inclusion and exclusion (Li et al. 2023, Convergent Incremental Potential Contact, section 4).
///
/// Pieces of surfaces that have no triangles are triangles whose last corners coincide, `dimension` telling them apart:
/// a segment a b is a b b, with -(k - 1)/k at an end with k segments, a point a is a a a. So a point counts the nearest
/// place of a line of segments once, too.
struct SurfaceTriangle {
  std::array<SurfaceVertex, 3> corners;
  std::array<double, 3> edge_weights;  ///< of the edges 01, 12, 20
  std::array<double, 3> corner_weights;

  /// 2; 1 of a segment, 0 of a point.
  int dimension() const {
    return corners[1].number != corners[2].number ? 2 : corners[0].number != corners[1].number ? 1 : 0;
  }
};

struct SurfaceEdge {
  std::array<SurfaceVertex, 2> ends;  ///< the lower number first
  double squared_length;              ///< at rest, m²
};

/// A rank's part of a surface: each point, edge and triangle is on one rank.
struct Surface {
  std::vector<SurfaceVertex> points;
  std::vector<double> point_areas;  ///< rest areas, a third of the triangles', m²; half of segments' lengths, m; or 1
  std::vector<SurfaceTriangle> triangles;
  std::vector<SurfaceEdge> edges;
  // Groups of all of them (contact/surface_groups.hpp).
  std::vector<std::int32_t> point_groups, triangle_groups, edge_groups;
};

/// The surface of a mesh: points with their owners, triangles with their cells or those that are cells, segments and
/// points that are cells (contact/surface_areas.hpp), an edge with the lowest of the ranks that have a triangle or
/// segment at it. `regions` of the surface are groups of their own, and Errors are
/// those of `surface_groups`. Collective.
Surface mesh_surface(const TetrahedralMesh& mesh, const std::vector<std::string>& regions = {});

/// The surface of an obstacle: triangles that every rank has whole, all of one `group`; its vertices are numbered from
/// `first_number`, their rank is -1.
Surface triangle_surface(const TriangleMesh& mesh, std::int64_t first_number, std::int32_t group = 0);

}  // namespace diffsim::contact
