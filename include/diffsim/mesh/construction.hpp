// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns one rank's block (contiguous ranges of vertices and cells) of a mesh of the box [0, size] (m). The box is
/// divided into cells[0] × cells[1] × cells[2] bricks of six tetrahedra each.
///
/// Each brick is split along the diagonal from its lowest to its highest corner (Kuhn 1960), so neighbouring bricks
/// conform. Vertices and bricks are numbered with x fastest and z slowest; tetrahedron t of brick b is cell 6 b + t.
/// Bricks and vertices are divided evenly among the ranks, in the order of their numbers. The six tetrahedra of a brick
/// are on the same rank. The sides of the box are the regions x_min, x_max, y_min, y_max, z_min, z_max (dimension 2,
/// tags 1 to 6). No communication.
///
/// Throws InputError if a size or a number of bricks is not positive, if a size is not finite, if the bricks are so
/// flat that validate_cells() would reject their tetrahedra, if 64-bit integers cannot count the tetrahedra, or if the
/// block does not fit into the machine's memory. Throws Error if rank `rank` of `num_ranks` does not exist.
MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks);
/// Overload of box_mesh() for this rank of a communicator. Instead of InputError, throws an Error of kind `input`, the
/// same on every rank. Collective.
MeshData box_mesh(MPI_Comm comm, const std::array<double, 3>& size, const std::array<int, 3>& cells);
/// Returns this rank's block of the mesh of the cube [0, size]³ (m) with `resolution`³ bricks of six tetrahedra each
/// (see box_mesh()). Collective.
MeshData cube_mesh(MPI_Comm comm, int resolution = 10, double size = 1.0);

/// Returns this rank's block of a mesh of linear tetrahedra, from positions of vertices (m) and the vertex numbers of
/// each tetrahedron. Only the first rank's arrays are used; the first rank's block is the whole mesh. Throws the same
/// Error of kind `input` on every rank if the mesh is not valid, for example if a cell is inverted. Collective.
MeshData solid_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                    const std::vector<std::array<int, 4>>& tets);
/// Returns this rank's block of a mesh of triangles, for shells, cloth and obstacles. Only the first rank's arrays are
/// used; the first rank's block is the whole mesh. Throws the same Error of kind `input` on every rank if there is no
/// triangle or if the mesh is not valid, for example if a triangle has zero area. Collective.
MeshData surface_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                      const std::vector<std::array<int, 3>>& triangles);
/// Returns this rank's block of a mesh of segments, for springs, ropes, and rods whose cross-sections have no
/// orientation (no directors). Only the first rank's arrays are used; the first rank's block is the whole mesh. Throws
/// the same Error of kind `input` on every rank if there is no segment or if the mesh is not valid, for example if a
/// segment has zero length. Collective.
MeshData segment_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                      const std::vector<std::array<int, 2>>& segments);

/// Returns the mesh of an affine body. The mesh has one cell, the inertial tetrahedron (see AffineBody), and is stored
/// on the first rank. Every rank passes the whole `surface`.
///
/// Throws InputError if the surface does not enclose a volume or if its normals point inwards. Also throws InputError
/// if the body is too flat, that is, if its smallest extent is less than about 10⁻⁶ of its largest extent. No
/// communication.
MeshData affine_body(MPI_Comm comm, TriangleMesh surface);

/// Distribution of a body's mass.
struct MassProperties {
  static constexpr double density = 1000.0;  ///< kg/m³; a material with this density gives the body the mass `mass`
  double mass = 0.0;                         ///< kg
  std::array<double, 3> centre{};            ///< centre of mass c (m)
  /// Covariance of the mass distribution (m²), C = (∫ (x - c)(x - c)ᵀ dm) / `mass`, where x is the position of the mass
  /// element dm. If J is the inertia tensor about the centre of mass, C = (½ tr(J) I - J) / `mass` with the identity
  /// matrix I.
  double covariance[3][3] = {{}};
};

/// Returns the mesh of an affine body with the given mass properties, which are independent of the body's surface.
/// `surface` may be empty or consist of several disconnected parts. Throws InputError if the covariance is not positive
/// definite, that is, if a principal moment of inertia is not less than the sum of the two others. Also throws
/// InputError if the body is too flat, as defined for the other affine_body(). No communication.
MeshData affine_body(MPI_Comm comm, const MassProperties& mass, TriangleMesh surface);

/// Returns this rank's block of the mesh of a joint's rotor (`Joint::armature`): one point, whose vertex is a director
/// (`MeshBody::num_directors`) with the components (1, 0, 0) m. No communication.
MeshData rotor_mesh(MPI_Comm comm);

/// Placement of a body: maps each position x to R S x + t with S = diag(scale), R the rotation by `angle` about `axis`
/// through the origin (Rodrigues' formula) and t = `translate`.
struct Placement {
  std::array<double, 3> scale{1.0, 1.0, 1.0};  ///< factor per axis; positive, because mirroring would invert the cells
  std::array<double, 3> axis{0.0, 0.0, 1.0};   ///< rotation axis, of any length except zero
  double angle = 0.0;                          ///< rad
  std::array<double, 3> translate{};           ///< m
};

/// Applies `placement` to the vertices of `mesh`, and to the surface of an affine body. Throws InputError if a scale
/// factor is not positive and finite. If the angle is not zero, also throws InputError if the angle is not finite, or
/// if the length of the axis is zero or not finite. No communication.
void place(MeshData& mesh, const Placement& placement);

/// Named body with this rank's block of its mesh.
struct NamedMesh {
  std::string name;  ///< name of the body; see `join_bodies`
  MeshData data;     ///< this rank's block
};

/// Joins several bodies into one mesh, which is distributed over the ranks in blocks of nearly equal size. The vertices
/// and cells of the first body come first, then those of the second body, and so on; the order within each body is
/// unchanged. Region R of a body is called BODY/R in the joint mesh, where BODY is the name of the body.
///
/// Throws InputError if `bodies` is empty, or if some bodies have linear and others second-order tetrahedra. Also
/// throws InputError if the name of a body is empty, is used twice, is `all`, or contains one of the separators `/`,
/// `|` and `:`. Collective.
MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies);

}  // namespace diffsim
