// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Groups of a mesh's surface. The contact law of a pair depends on the groups of both sides. Groups are numbered:
/// first the regions of the surface in the given order, then the bodies of the mesh. A triangle belongs to the region
/// that contains its face, or to its body if no region contains its face. A vertex or an edge belongs to the group with
/// the lowest number among the groups of its triangles.
struct SurfaceGroups {
  /// Group of each triangle, segment and point, in the order of `surface_pieces`.
  std::vector<int> triangles;
  std::vector<int> vertices;  ///< [local vertices]; a vertex inside a body has the group of the body
};

/// Returns the groups of the surface, where each of `regions` is a group. Throws Error (input) for a region without a
/// face of the surface, and for two regions with a common face. Collective.
SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions);

/// Returns the owned vertices, in ascending order, of the surface pieces of one dimension. If `groups` is not empty,
/// only the vertices of these groups are returned. Collective.
std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension = 2);

}  // namespace diffsim::contact
