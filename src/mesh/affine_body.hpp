// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/mesh/construction.hpp"

namespace diffsim {

/// Gathers all triangles of the mesh `data`, and the vertices of these triangles, on every rank. Returns the triangles
/// and the vertices in file order. Collective.
TriangleMesh gather_triangles(MPI_Comm comm, const MeshData& data);

/// Returns true if at least one of the bodies is affine.
bool has_affine_bodies(const std::vector<MeshBody>& bodies);

/// Interpolation of positions or velocities from the four corners of an affine body's cell to vertices of the body's
/// surface. The interpolated value is an affine function of the rest position.
class AffineMap {
 public:
  /// Computes the interpolation weights of the vertices `begin` … `end` - 1 of the body's surface. `rest`: rest
  /// positions (m) of the cell's corners, [4, 3], in the cell's order.
  AffineMap(const AffineBody& body, const double* rest, std::int64_t begin, std::int64_t end);
  /// Returns the values [vertices, 3] at the surface vertices, from the values [4, 3] at the corners.
  std::vector<double> operator()(const double* corners) const;

 private:
  std::vector<std::array<double, 4>> weights_;
};

}  // namespace diffsim
