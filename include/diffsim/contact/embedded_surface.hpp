// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/core/point_map.hpp"
#include "diffsim/mesh/polygon_reader.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Triangles that stand for a body in contact, in place of the boundary of its tetrahedra: a fine skin around coarse
/// cells, or a closed hull around cells with gaps. The vertices are where the body is at rest.
struct BodySurface {
  std::string body;  ///< name of a body of the mesh, `body` where there is one without a name
  TriangleMesh mesh;
};

/// Surface of the bodies of a mesh as a mesh of its own, whose points are linear in the vertices of the bodies.
struct EmbeddedSurface {
  std::shared_ptr<const TetrahedralMesh> mesh;  ///< triangles, segments and points, in bodies of the same names
  std::shared_ptr<const PointMap> map;          ///< from vertices of the bodies to vertices of `mesh`
};

/// Makes the surface of `mesh`, some bodies of which have a surface of their own.
///
/// Vertex v of such a surface is x_v = Σ_k N_k(λ_v) q_k with the shape functions N_k of the cell that v is in at rest;
/// of a vertex outside all cells, of the cell beyond whose faces the vertex is least, in parts of the cell's height.
/// An affine body (mesh/affine_body.hpp) has its own surface without being listed in `surfaces`, and each vertex of it
/// the weights of the body's cell, however far outside. Other bodies keep the boundary of their cells, each vertex with
/// the weight 1. `regions` of their boundary are regions of the surface, too.
///
/// Throws Error (input) for a body that does not exist, has two surfaces, or no tetrahedra; for triangles with a vertex
/// that is not there or without area; for a region of a body with a surface of its own; and for a vertex that is
/// farther from all cells than the longest edge. Every rank has all of `surfaces`. Collective.
EmbeddedSurface embed_surfaces(const TetrahedralMesh& mesh, const std::vector<BodySurface>& surfaces,
                               const std::vector<std::string>& regions = {});

/// Makes a contact term of bodies from one of their surface: forces at points become forces at nodes by the transposed
/// map, with derivatives of first and second order and the Jacobian.
std::unique_ptr<ContactTerm> make_mapped_contact(std::unique_ptr<ContactTerm> on_surface,
                                                 std::shared_ptr<const PointMap> map);

}  // namespace diffsim
