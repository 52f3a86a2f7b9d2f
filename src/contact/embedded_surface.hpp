// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/contact_term.hpp"
#include "contact/surface_scaling.hpp"
#include "core/point_map.hpp"
#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Surface of the bodies of a mesh, stored as a separate mesh. The positions of the surface mesh's vertices are linear
/// functions of the positions of the bodies' vertices.
struct EmbeddedSurface {
  /// Surface mesh, in which each body has the same name as in the mesh of the bodies.
  std::shared_ptr<const TetrahedralMesh> mesh;
  /// Map from the positions of the bodies' vertices to the positions of the vertices of the surface mesh `mesh`.
  std::shared_ptr<const PointMap> map;
  /// Scales of the surfaces of single bodies; nullptr if no surface has a scale.
  std::shared_ptr<const SurfaceScaling> scaling = nullptr;
};

/// Builds the surface mesh of a mesh in which some bodies have separate surfaces, given by the triangles in `surfaces`,
/// and the map from the positions of the bodies' vertices to the positions of the surface's vertices.
///
/// A vertex v of a body's separate surface has the position x_v = Σ_k N_k(λ_v) q_k, with the shape functions N_k and
/// the node positions q_k of the cell that contains the vertex in the rest configuration, and the vertex's barycentric
/// coordinates λ_v in this cell. A surface vertex outside all cells is assigned to the cell with the smallest -min λ_v.
/// For a vertex outside a cell, -min λ_v is the distance from the vertex to the plane of one of the cell's faces, as a
/// fraction of the cell's height above this face. An affine body (mesh/affine_body.hpp) may have a separate surface
/// that is not listed in `surfaces`; all vertices of an affine body's surface use the body's only cell, regardless of
/// their distance from this cell. An affine body without a surface takes no part in contact. The surface of a body that
/// is not affine and has no separate surface consists of the boundary faces of the body's tetrahedra, or of the body's
/// triangles, segments or points: each surface vertex is a vertex of the body, with the weight 1. The surface mesh has
/// the regions `regions`, which must belong to bodies without separate surfaces.
///
/// Throws Error (input) in these cases: a surface is given for a body that does not exist, that already has a surface,
/// or that has no tetrahedra; a surface has no triangles; a triangle has no area, or has a vertex that does not exist;
/// a region belongs to a body with a separate surface; a region contains no face of the mesh's surface, or two regions
/// have a common face; the bounding boxes of all cells of a body that is not affine are farther from a surface vertex
/// than the length of the longest edge of the mesh; a scale in `scales` belongs to a body that is not affine, that does
/// not exist or that has another scale. Every rank passes the complete lists. Collective.
EmbeddedSurface embed_surfaces(const TetrahedralMesh& mesh, const std::vector<BodySurface>& surfaces,
                               const std::vector<std::string>& regions = {},
                               const std::vector<SurfaceScale>& scales = {});

/// Makes a contact term for the nodes of bodies from the contact term `on_surface`, which acts on the vertices of a
/// surface mesh. The map of `surface` computes the positions of the surface mesh's vertices from the positions of the
/// bodies' nodes, with the scales of `surface`; the transpose of the map converts forces on the vertices to forces on
/// the nodes. The returned contact term provides first and second derivatives and the Jacobian of the contact forces,
/// but no second derivatives with respect to the parameters `surface_scale:NAME`.
std::unique_ptr<ContactTerm> make_mapped_contact(std::unique_ptr<ContactTerm> on_surface,
                                                 const EmbeddedSurface& surface);

}  // namespace diffsim
