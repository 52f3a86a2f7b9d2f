// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Groups that laws of contact tell apart on a mesh's surface, by number: regions of the surface as listed, then the
/// mesh's bodies. A triangle is of the region that has its face, else of its body; a vertex, and an edge, is of the
/// group with the lowest number among those of its triangles, so of the region that is listed first.
struct SurfaceGroups {
  std::vector<int> triangles;  ///< and segments and points, in the order of `surface_pieces`
  std::vector<int> vertices;   ///< [local vertices]; those inside a body are of the body
};

/// Groups of the surface with these regions. Throws Error (input) for a region without a face of the surface and for
/// two with a face in common. Collective.
SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions);

/// Owned vertices of the surface's pieces of a dimension that are of some of its groups, ascending; of all groups where
/// none is named. Collective.
std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension = 2);

}  // namespace diffsim::contact
