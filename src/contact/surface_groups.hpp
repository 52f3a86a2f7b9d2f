// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Groups into which a mesh's surface is divided. A surface group is either a region of the surface or a whole body. A
/// contact law may be given for each pair of surface groups. Surface groups are numbered in this order: the regions in
/// the order of the argument `regions`, the bodies of the mesh. A triangle, segment or point in a region belongs to the
/// group of the region; a triangle, segment or point outside all regions belongs to the group of its body. A vertex or
/// an edge belongs to the group with the lowest number among the groups of its triangles, segments and points.
struct SurfaceGroups {
  /// Group number of each triangle, segment and point of this rank's surface, in the order of the list that
  /// `surface_pieces` returns.
  std::vector<int> triangles;
  /// Group number of each vertex, [local vertices]; a vertex inside a body belongs to the group of the body.
  std::vector<int> vertices;
};

/// Returns the groups of the mesh's surface: one group for each of the regions `regions`, and one for each body. Throws
/// Error (input) if a region contains no face of the mesh's surface, or if two regions have a common face. Collective.
SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions);

/// Returns the owned vertices, in ascending order, of the surface's triangles (`dimension` 2), segments (1) or points
/// (0). If the list `groups` of group numbers is not empty, only the vertices of these groups are returned; `regions`
/// are the names of the regions that form groups, as in `surface_groups`. Collective.
std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension = 2);

}  // namespace diffsim::contact
