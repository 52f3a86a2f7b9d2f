// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Groups of a mesh's surface. A group is either a region of the surface or a whole body. A contact law may be given
/// for each pair of groups. Groups are numbered: first the regions in the given order, then the bodies of the mesh. A
/// triangle, segment or point belongs to the region that contains this cell or face, or to the group of the body if no
/// region does. A vertex or an edge belongs to the group with the lowest number among the groups of its triangles,
/// segments and points.
struct SurfaceGroups {
  /// Group number of each triangle, segment and point of this rank's surface, in the order of `surface_pieces`.
  std::vector<int> triangles;
  std::vector<int> vertices;  ///< [local vertices]: group number; inside a body, the group of the body
};

/// Returns the groups of the surface: each of `regions`, and each body. Throws Error (input) if a region has no face of
/// the surface, or if two regions have a common face. Collective.
SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions);

/// Returns the owned vertices, in ascending order, of the surface's triangles (`dimension` 2), segments (1) or points
/// (0). If `groups` is not empty, only the vertices of the groups with these numbers are returned; `regions` are the
/// regions that form groups, as in `surface_groups`. Collective.
std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension = 2);

}  // namespace diffsim::contact
