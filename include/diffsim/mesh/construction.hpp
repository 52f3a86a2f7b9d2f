// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// One rank's block of a mesh of the box [0, size], m, with cells[0] × cells[1] × cells[2] bricks of six tetrahedra
/// each.
///
/// Each brick is split along the diagonal from its lowest to its highest corner (Kuhn 1960), so neighbouring bricks
/// conform. Vertices and bricks are numbered with x fastest and z slowest; tetrahedron t of brick b is cell 6 b + t.
/// Bricks and vertices are divided evenly among the ranks, in the order of their numbers; no brick is split between
/// ranks. The sides of the box are the regions x_min, x_max, y_min, y_max, z_min, z_max (dimension 2, tags 1 to 6). No
/// communication.
///
/// Throws InputError for a size or count that is not positive, for bricks too flat for validate_cells(), for more
/// tetrahedra than 64-bit integers can count, and for a block larger than the machine's memory.
MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks);

/// Mesh of an affine body, which consists of the inertial tetrahedron (see AffineBody) and is stored on the first rank.
/// Every rank passes the whole `surface`.
///
/// Throws InputError if the surface does not enclose a volume, if its normals point inwards, or if the body is too
/// flat (smallest extent below about 10⁻⁶ of the largest extent). No communication.
MeshData affine_body(MPI_Comm comm, TriangleMesh surface);

/// Distribution of a body's mass.
struct MassProperties {
  static constexpr double density = 1000.0;  ///< kg/m³; a material with this density gives the body the mass `mass`
  double mass = 0.0;                         ///< mass m, kg
  std::array<double, 3> centre{};            ///< centre of mass c, m
  /// Covariance C = ∫ (x - c)(x - c)ᵀ dm / m, m². With the inertia tensor I about the centre, C = (½ tr(I) 1 - I)/m.
  double covariance[3][3] = {{}};
};

/// Mesh of an affine body with given mass properties, which are independent of the body's surface. `surface` may be
/// empty, or consist of several shapes. Throws InputError if C is not positive definite, that is, if a principal moment
/// of inertia is not less than the sum of the two others. Also throws InputError if the body is too flat. No
/// communication.
MeshData affine_body(MPI_Comm comm, const MassProperties& mass, TriangleMesh surface);

/// Placement of a body: x ↦ R S x + t with S = diag(scale), R the rotation by `angle` about `axis` through the origin
/// (Rodrigues' formula) and t = `translate`.
struct Placement {
  std::array<double, 3> scale{1.0, 1.0, 1.0};  ///< positive, because mirroring would invert the cells
  std::array<double, 3> axis{0.0, 0.0, 1.0};   ///< of any non-zero length
  double angle = 0.0;                          ///< rad
  std::array<double, 3> translate{};           ///< m
};

/// Applies `placement` to the vertices of `mesh`, and to the surface of an affine body. Throws InputError for a scale
/// factor that is not positive and finite, and, if the angle is not zero, for an axis of zero length or an angle that
/// is not finite. No communication.
void place(MeshData& mesh, const Placement& placement);

/// Named body with this rank's block of its mesh.
struct NamedMesh {
  std::string name;
  MeshData data;
};

/// Joins several bodies into one mesh, which is distributed over the ranks in blocks of nearly equal size. The vertices
/// and cells of the first body come first, then those of the second body, and so on; the order within each body is
/// unchanged. Region R of a body is called BODY/R.
///
/// Throws InputError if there is no body; if a name is empty, used twice, `all`, or contains one of the separators `/`,
/// `|` and `:`; and if the tetrahedra of the bodies differ in order. Collective.
MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies);

}  // namespace diffsim
