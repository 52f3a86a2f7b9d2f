// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Surface and volume of an affine body, which its single mesh cell does not represent.
///
/// An affine body moves by x(X, t) = A(t) X + b(t), which four nodes describe (Lan et al. 2022, Affine body dynamics,
/// ACM Trans. Graph. 41). In diffsim the four nodes are the corners of one linear tetrahedron, the inertial
/// tetrahedron. Its corners are chosen so that four equal masses, each a quarter of the body's mass, have the body's
/// centre of mass and moments of inertia. The lumped masses of the cell are then the exact mass matrix of the affine
/// motion. The strain of the cell equals the strain of the body, so the elastic energy is the energy density times the
/// body's volume.
struct AffineBody {
  double volume_factor = 1.0;  ///< volume of the body / volume of the inertial tetrahedron
  TriangleMesh surface;        ///< closed surface in the rest shape, normals outwards; m
};

/// Mesh of an affine body: its inertial tetrahedron, stored on the first rank. Every rank passes the whole `surface`.
///
/// Throws InputError if the surface does not enclose a volume, if its normals point inwards, or if the body is too
/// flat (smallest extent below about 10⁻⁶ of the largest extent). No communication.
MeshData affine_body(MPI_Comm comm, TriangleMesh surface);

/// Gathers all triangles of `data`, and the vertices of these triangles, on every rank. Both keep their order.
/// Collective.
TriangleMesh gather_triangles(MPI_Comm comm, const MeshData& data);

/// Returns whether at least one of the bodies is affine.
bool has_affine_bodies(const std::vector<MeshBody>& bodies);

/// Adds the rigid velocity v + ω × (X - c) to `velocities` [owned vertices, 3], m/s, at the corners X of an affine
/// body. c is the mean of the four corners, which is the body's centre of mass. v in m/s, ω in rad/s. Collective.
void add_rigid_velocity(const TetrahedralMesh& mesh, const std::string& body, const std::array<double, 3>& v,
                        const std::array<double, 3>& w, std::vector<double>& velocities);

/// Interpolation of positions or velocities from the corners of an affine body's cell to vertices of its surface. The
/// interpolation is affine in the rest position.
class AffineMap {
 public:
  /// Computes the weights of the surface vertices `begin` … `end` - 1. `rest`: rest positions of the cell's corners,
  /// [4, 3], in the cell's order, m.
  AffineMap(const AffineBody& body, const double* rest, std::int64_t begin, std::int64_t end);
  /// Returns the values [vertices, 3] at the surface vertices, from the values [4, 3] at the corners.
  std::vector<double> operator()(const double* corners) const;

 private:
  std::vector<std::array<double, 4>> weights_;
};

}  // namespace diffsim
