// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns one rank's block (contiguous ranges of vertices and cells) of a mesh of the box [0, size] (m). The box is
/// divided into cells[0] × cells[1] × cells[2] bricks of six tetrahedra each.
///
/// Each brick is split along the diagonal from the corner with the smallest to the corner with the largest coordinates
/// (Kuhn 1960), so the tetrahedra of neighbouring bricks conform. Vertices and bricks are numbered with x fastest and z
/// slowest; tetrahedron t of brick b is cell 6 b + t. Bricks and vertices are divided evenly among the ranks, in the
/// order of their numbers. The six tetrahedra of a brick are on the same rank. The sides of the box are the regions
/// x_min, x_max, y_min, y_max, z_min, z_max (dimension 2, tags 1 to 6). No communication.
///
/// Throws InputError if a size or a number of bricks is not positive, or if a size is not finite. Throws InputError if
/// the bricks are so flat that validate_cells() would reject their tetrahedra, if 64-bit integers cannot count the
/// tetrahedra, or if the block does not fit into the machine's memory. Throws Error if `rank` is not in the range from
/// 0 to `num_ranks` - 1.
MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks);
/// Overload of box_mesh() for the calling rank of a communicator. Throws the same Error of kind `input` on every rank
/// in all cases in which the overload without a communicator throws InputError. Collective.
MeshData box_mesh(MPI_Comm comm, const std::array<double, 3>& size, const std::array<int, 3>& cells);
/// Returns this rank's block of the mesh of the cube [0, size]³ (m) with `resolution`³ bricks of six tetrahedra each
/// (see box_mesh()). Collective.
MeshData cube_mesh(MPI_Comm comm, int resolution = 10, double size = 1.0);

/// Returns this rank's block of a mesh of linear tetrahedra, from the positions of the vertices (m) and the vertex
/// numbers of each tetrahedron. Only the first rank's arrays `vertices` and `tets` are used; the first rank's block is
/// the whole mesh. Throws the same Error of kind `input` on every rank if the mesh is not valid, for example if a cell
/// is inverted. Collective.
MeshData solid_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                    const std::vector<std::array<int, 4>>& tets);
/// Returns this rank's block of a mesh of triangles, for shells, cloth and obstacles. Only the first rank's arrays
/// `vertices` and `triangles` are used; the first rank's block is the whole mesh. Throws the same Error of kind `input`
/// on every rank if there is no triangle or if the mesh is not valid, for example if a triangle has zero area.
/// Collective.
MeshData surface_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                      const std::vector<std::array<int, 3>>& triangles);
/// Returns this rank's block of a mesh of segments, for springs, ropes and, after `add_directors`, rods and beams. Only
/// the first rank's arrays `vertices` and `segments` are used. Throws the same Error of kind `input` on every rank if
/// there is no segment or if the mesh is not valid, for example if a segment has zero length. Collective.
MeshData segment_mesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                      const std::vector<std::array<int, 2>>& segments);
/// Adds one director per segment to a mesh of segments, for the models `rod` and `beam`. The directors follow all other
/// vertices, in the order of the segments. If `across` is given, each director has the direction of the component of
/// `across` perpendicular to the segment; otherwise the directors of a line of segments have no twist. Throws Error of
/// kind `input` if more than two segments meet at a vertex, if `across` is parallel to a segment, or if `across` is not
/// given and a line of segments reverses its direction at a vertex. Collective.
void add_directors(MPI_Comm comm, MeshData& mesh, const std::optional<std::array<double, 3>>& across = {});

/// Returns the mesh of an affine body. The mesh of an affine body has one cell, the inertial tetrahedron (see
/// AffineBody), and is stored on the first rank. Every rank must pass the whole surface of the body.
///
/// Throws InputError if the surface does not enclose a volume or its normals point inwards, or if the body's smallest
/// extent is less than about 10⁻⁶ of its largest extent. No communication.
MeshData affine_body(MPI_Comm comm, TriangleMesh surface);

/// Mass, centre of mass and covariance of the mass distribution of an affine body.
struct MassProperties {
  static constexpr double density = 1000.0;  ///< density (kg/m³) for which the body has the mass `mass`
  double mass = 0.0;                         ///< kg
  std::array<double, 3> centre{};            ///< centre of mass c (m)
  /// Covariance of the mass distribution (m²), C = (∫ (x - c)(x - c)ᵀ dm) / `mass`, where x is the position of the mass
  /// element dm and c is the centre of mass. The covariance C of the mass distribution follows from the inertia tensor
  /// J about the centre of mass: C = (½ tr(J) I - J) / `mass`, with the identity matrix I.
  double covariance[3][3] = {{}};
};

/// Returns the mesh of an affine body with the given mass properties, which are independent of the body's surface. The
/// argument `surface` may be empty or consist of several disconnected parts. Throws InputError if the covariance is not
/// positive definite, that is, if a principal moment of inertia is not less than the sum of the two others, or if the
/// smallest extent of the mass distribution is less than about 10⁻⁶ of the largest extent. No communication.
MeshData affine_body(MPI_Comm comm, const MassProperties& mass, TriangleMesh surface);

/// Returns this rank's block of the mesh of a joint's rotor (`Joint::armature`): one point, whose vertex stores a
/// director (`MeshBody::num_directors`) with the components (1, 0, 0) m. No communication.
MeshData rotor_mesh(MPI_Comm comm);

/// Placement of a body: maps each position x to R S x + t with S = diag(scale), R the rotation by `angle` about `axis`
/// through the origin (Rodrigues' formula) and t = `translate`.
struct Placement {
  /// Scale factor of each coordinate; positive, because mirroring would invert the cells.
  std::array<double, 3> scale{1.0, 1.0, 1.0};
  std::array<double, 3> axis{0.0, 0.0, 1.0};  ///< rotation axis, of any length except zero
  double angle = 0.0;                         ///< rad
  std::array<double, 3> translate{};          ///< m
};

/// Applies `placement` to the vertices of `mesh`, and to the vertices of the surface of an affine body. Throws
/// InputError if an entry of `scale` is not positive and finite, if `angle` is not finite, if `angle` is not zero and
/// the length of `axis` is zero or not finite, or if `placement` is not the identity and the segments of `mesh` have
/// directors: place the mesh of a rod before `add_directors`. No communication.
void place(MeshData& mesh, const Placement& placement);

/// Name of a body, and this rank's block of the body's mesh.
struct NamedMesh {
  std::string name;  ///< name of the body, subject to the conditions of join_bodies()
  MeshData data;     ///< this rank's block of the body's mesh
};

/// Joins several bodies into one mesh, which is distributed over the ranks in blocks of nearly equal size. The vertices
/// and cells of the first body come first, then those of the second body, and so on; the order of vertices and cells
/// within each body is unchanged. Region R of a body is called BODY/R in the joined mesh, where BODY is the name of the
/// body.
///
/// Throws InputError if the list `bodies` is empty, if some bodies have linear and others second-order tetrahedra, or
/// if the name of a body is empty, is used twice, is `all`, or contains one of the separators `/`, `|` and `:`.
/// Collective.
MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies);

}  // namespace diffsim
