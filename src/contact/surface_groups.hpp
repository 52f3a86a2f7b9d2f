// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Groups of a mesh's surface that contact laws distinguish, by number: the regions of the surface in the order given,
/// then the bodies of the mesh. A triangle belongs to the region that has its face, else to its body. A vertex or an
/// edge belongs to the group with the lowest number among those of its triangles, hence to the region that is listed
/// first.
struct SurfaceGroups {
  /// Group of each triangle, segment and point, in the order of `surface_pieces`.
  std::vector<int> triangles;
  std::vector<int> vertices;  ///< [local vertices]; a vertex inside a body has the group of the body
};

/// Groups of the surface with these regions. Throws Error (input) for a region without a face of the surface, and for
/// two regions with a common face. Collective.
SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions);

/// Owned vertices of the surface pieces of one dimension that belong to one of `groups`, ascending; to any group if
/// `groups` is empty. Collective.
std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension = 2);

}  // namespace diffsim::contact
