// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/polygon_reader.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Part of an affine body that is no cell: its surface, and the volume that its one cell stands for.
///
/// An affine body moves by x(X, t) = A(t) X + b(t), which four nodes describe (Lan et al. 2022, Affine body dynamics,
/// ACM Trans. Graph. 41). Here they are the corners of one linear tetrahedron, the inertial tetrahedron, chosen so that
/// a quarter of the body's mass at each corner has the body's centre of mass and moments of inertia: the lumped masses
/// of the cell are then the exact mass matrix of the affine motion. Its strain is the body's, so that its energy is
/// that of the body's volume times the energy density of its law.
struct AffineBody {
  double volume_factor = 1.0;  ///< volume of the body over that of its cell
  TriangleMesh surface;        ///< closed, at rest, turned outwards; m
};

/// Mesh of an affine body with that surface: the inertial tetrahedron, on the first rank. Every rank has all of
/// `surface`. Throws InputError where the surface does not enclose a volume, is turned inwards or is too flat for a
/// tetrahedron (its least principal extent is below 10⁻⁶ of the largest). No communication.
MeshData affine_body(MPI_Comm comm, TriangleMesh surface);

/// Triangles of `data`, in their order, on every rank, with the vertices that they have. Collective.
TriangleMesh gather_triangles(MPI_Comm comm, const MeshData& data);

/// Whether one of the bodies is affine.
bool has_affine_bodies(const std::vector<MeshBody>& bodies);

/// Adds v + ω × (X - c) to velocities [owned vertices, 3] of an affine body's corners X, c their mean, which is the
/// body's centre of mass: v in m/s, ω in rad/s. Collective.
void add_rigid_velocity(const TetrahedralMesh& mesh, const std::string& body, const std::array<double, 3>& v,
                        const std::array<double, 3>& w, std::vector<double>& velocities);

/// Map from values at the corners of an affine body's cell, places or velocities, to values at some vertices of its
/// surface: affine in the place at rest.
class AffineMap {
 public:
  /// For the vertices `begin` to `end` of the surface. `rest`: the corners at rest, [4, 3], in the cell's order.
  AffineMap(const AffineBody& body, const double* rest, std::int64_t begin, std::int64_t end);
  /// Values [vertices, 3] from those at the corners, [4, 3].
  std::vector<double> operator()(const double* corners) const;

 private:
  std::vector<std::array<double, 4>> weights_;
};

}  // namespace diffsim
