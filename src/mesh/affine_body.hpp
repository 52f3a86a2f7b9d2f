// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/mesh/construction.hpp"

namespace diffsim {

/// Gathers all triangles of the mesh `data`, and the vertices of these triangles, on every rank. Returns the gathered
/// triangles and vertices in file order. Collective.
TriangleMesh gather_triangles(MPI_Comm comm, const MeshData& data);

/// Returns true if the list `bodies` contains an affine body, a body whose deformation is affine (`MeshBody::affine` is
/// set).
bool has_affine_bodies(const std::vector<MeshBody>& bodies);

/// Interpolation of positions or velocities from the four corners of the single cell of an affine body to vertices of
/// the body's surface. The interpolated values are affine functions of the rest positions of the surface vertices.
class AffineMap {
 public:
  /// Computes the interpolation weights of the vertices `begin` … `end` - 1 of an affine body's surface. `rest`: rest
  /// positions (m) of the corners of the affine body's cell, [4, 3], in the order of the cell's nodes.
  AffineMap(const AffineBody& body, const double* rest, std::int64_t begin, std::int64_t end);
  /// Returns the values [vertices, 3] at the surface vertices, interpolated from the values [4, 3] at the four corners
  /// of the affine body's cell.
  std::vector<double> operator()(const double* corners) const;

 private:
  std::vector<std::array<double, 4>> weights_;
};

}  // namespace diffsim
