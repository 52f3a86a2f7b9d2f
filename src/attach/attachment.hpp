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

/// Anchors of those vertices of a region that this rank owns, where the anchor of a vertex is the point of a cell to
/// which the vertex is attached.
struct Anchors {
  AnchorKind kind = AnchorKind::vertex;  ///< kind of cell to which the vertices are attached, the same on every rank
  std::vector<int> vertices;             ///< attached vertices, all owned by this rank: [anchors]
  /// Owner rank and local index of each node of the cells that contain the anchors: [anchors, nodes of a cell].
  std::vector<VertexLocation> nodes;
  std::vector<double> places;  ///< coordinates ξ of the anchors in the cells (see `anchor_place`): [anchors, 3]
};

/// Returns the anchors of those vertices of `region` that this rank owns: for each vertex, the nearest cell of region
/// `to` in the rest shape, and the coordinates ξ of the vertex in this cell. The search for the cell nearest to a
/// vertex considers only the cells of region `to` with the highest dimension. Coordinates of anchors in segments refer
/// to the directors of the segments only if all segments of region `to` have directors. If region `to` has no cells,
/// the anchors are vertices of region `to`.
///
/// Throws Error (input) if a vertex belongs to both `region` and `to`, or if a vertex of `region` is too far from the
/// nearest cell of region `to`. If the nearest cell is a tetrahedron, a triangle or a segment whose director is used,
/// the distance between the vertex and the cell must be at most L = MeshQuality::max_edge, the longest edge of all
/// tetrahedra, triangles and segments of the mesh. If the anchor is a vertex, or is on a segment whose director is not
/// used, the distance between the attached vertex and the anchor must be at most 10⁻⁶ L, because the anchor's
/// coordinates ξ cannot represent a position off the vertex or segment. Collective.
Anchors find_anchors(const TetrahedralMesh& mesh, const std::string& region, const std::string& to);

/// Returns the force term of springs between vertices and the anchors of these vertices. `stiffness`: name of the
/// parameter that contains the stiffness of all springs (N/m), a single value. `place`: name of the parameter that
/// contains the coordinates ξ of the anchors in their cells, [owned vertices, 3]. Collective.
std::unique_ptr<ForceTerm> make_attachment(const TetrahedralMesh& mesh, const Anchors& anchors,
                                           const std::string& stiffness, const std::string& place);

}  // namespace diffsim
