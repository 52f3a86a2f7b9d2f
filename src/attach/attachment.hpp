// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attach/anchor.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Anchors of this rank's owned vertices of a region.
struct Anchors {
  AnchorKind kind = AnchorKind::vertex;  ///< kind of all anchors, the same on every rank
  std::vector<int> vertices;             ///< attached vertices, owned: [anchors]
  std::vector<VertexLocation> nodes;     ///< nodes of the cells: [anchors, number of nodes of the kind]
  std::vector<double> places;            ///< coordinates ξ (anchor_place): [anchors, 3]
};

/// Finds the anchor of each vertex of `region`: the cell of region `to` that is nearest to the vertex in the rest
/// shape, and the coordinates ξ of the vertex in this cell. Only the cells of the highest dimension are considered. If
/// region `to` has no cells, the anchors are vertices of `to`.
///
/// Throws Error of kind `input` if a vertex belongs to both regions. For tetrahedra, triangles and segments with
/// directors, throws Error of kind `input` if a vertex is farther from the nearest cell than L = MeshQuality::max_edge,
/// the longest edge of all tetrahedra, triangles and segments of the mesh. Anchors on segments without directors and on
/// vertices cannot represent a position off the segment or vertex. For these anchors, the attached vertex must
/// therefore be within 10⁻⁶ L of the segment or vertex. Collective.
Anchors find_anchors(const TetrahedralMesh& mesh, const std::string& region, const std::string& to);

/// Creates the force term of springs between vertices and their anchors. `stiffness`: name of the parameter for the
/// stiffness of each spring, N/m, one value for the whole term. `place`: name of the parameter for the coordinates ξ of
/// the anchors, [owned vertices, 3]. Collective.
std::unique_ptr<ForceTerm> make_attachment(const TetrahedralMesh& mesh, const Anchors& anchors,
                                           const std::string& stiffness, const std::string& place);

}  // namespace diffsim
