// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/contact_term.hpp"
#include "core/point_map.hpp"
#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Surface of the bodies of a mesh, stored as a separate mesh whose points are linear functions of the bodies'
/// vertices.
struct EmbeddedSurface {
  std::shared_ptr<const TetrahedralMesh> mesh;  ///< triangles, segments and points, in bodies of the same names
  std::shared_ptr<const PointMap> map;          ///< from vertices of the bodies to vertices of `mesh`
};

/// Makes the surface of `mesh` if some bodies have a surface of their own.
///
/// A vertex v of such a surface has the position x_v = Σ_k N_k(λ_v) q_k, with the shape functions N_k of the cell that
/// contains the vertex in the rest configuration. A vertex outside all cells uses the cell with the smallest -min λ,
/// where λ are the barycentric coordinates of the vertex in the cell. For a vertex outside the cell, -min λ is the
/// distance from the vertex to the plane of a face, as a fraction of the cell's height above this face. An affine body
/// (mesh/affine_body.hpp) has its own surface without being listed in `surfaces`; the vertices of that surface use the
/// body's only cell, however far outside the cell the vertices are. Other bodies keep the boundary of their cells, each
/// vertex with the weight 1. The `regions` of this boundary are also regions of the surface.
///
/// Throws Error (input) for a body that does not exist, has two surfaces, or has no tetrahedra; for a triangle with a
/// vertex that does not exist, or without area; for a region of a body with a surface of its own; and for a vertex that
/// is farther from all cells than the longest edge. Every rank passes all of `surfaces`. Collective.
EmbeddedSurface embed_surfaces(const TetrahedralMesh& mesh, const std::vector<BodySurface>& surfaces,
                               const std::vector<std::string>& regions = {});

/// Makes a contact term of bodies from a contact term of their surface. The transposed map turns forces at surface
/// points into forces at nodes. The new term has first and second derivatives and the Jacobian.
std::unique_ptr<ContactTerm> make_mapped_contact(std::unique_ptr<ContactTerm> on_surface,
                                                 std::shared_ptr<const PointMap> map);

}  // namespace diffsim
