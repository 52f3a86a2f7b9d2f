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

/// Anchors of those vertices of a region that this rank owns. An anchor is the point of a cell to which a vertex is
/// attached.
struct Anchors {
  AnchorKind kind = AnchorKind::vertex;  ///< kind of all anchors, the same on every rank
  std::vector<int> vertices;             ///< attached vertices, all owned by this rank: [anchors]
  std::vector<VertexLocation> nodes;     ///< owner and index of the cells' nodes: [anchors, nodes of a cell]
  std::vector<double> places;            ///< coordinates ξ of the anchors (anchor_place): [anchors, 3]
};

/// Returns the anchors of the vertices of `region`: for each vertex the nearest cell of region `to` in the rest shape,
/// and the coordinates ξ of the vertex in this cell. Only the cells of region `to` with the highest dimension are
/// considered. The directors of segments are used only if all segments of region `to` have directors. If region `to`
/// has no cells, the anchors are vertices of `to`.
///
/// Throws Error (input) if a vertex belongs to both regions. Throws Error (input) if a vertex is too far from the
/// nearest cell. If the nearest cell is a tetrahedron, a triangle or a segment whose director is used, the distance
/// must be at most L = MeshQuality::max_edge, the longest edge of all tetrahedra, triangles and segments of the mesh.
/// Anchors on vertices, and on other segments, cannot represent a position off the vertex or segment; the distance must
/// then be at most 10⁻⁶ L. Collective.
Anchors find_anchors(const TetrahedralMesh& mesh, const std::string& region, const std::string& to);

/// Returns the force term of springs between vertices and the anchors of these vertices. `stiffness`: name of the
/// parameter that contains the stiffness of all springs (N/m), a single value. `place`: name of the parameter that
/// contains the coordinates ξ of the anchors, [owned vertices, 3]. Collective.
std::unique_ptr<ForceTerm> make_attachment(const TetrahedralMesh& mesh, const Anchors& anchors,
                                           const std::string& stiffness, const std::string& place);

}  // namespace diffsim
