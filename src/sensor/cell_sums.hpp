// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::sensor {

/// Symmetric tensor with the components [xx, yy, zz, xy, yz, xz].
using SymmetricTensor = std::array<double, 6>;

/// Positions x and rest positions X of the local vertices, [local vertices, 3], m, or changes or adjoints of x and X.
/// In a CellPositions object that contains changes, an empty array stands for zeros.
struct CellPositions {
  std::vector<double> x, X;
};

/// Current volume, rest volume and integral of the strain of tetrahedra of this rank, computed with the quadrature rule
/// of the mesh's elements. For the tetrahedron that represents an affine body, the volumes and the integral are those
/// of the body.
struct CellSums {
  double volume = 0.0;       ///< current volume ∫ det F dV, m³, with the deformation gradient F
  double rest_volume = 0.0;  ///< rest volume ∫ dV, m³
  SymmetricTensor strain{};  ///< integral ∫ ½ (FᵀF - 1) dV of the Green–Lagrange strain, m³

  std::array<double*, 8> entries();
};

/// Returns the CellSums of the tetrahedra with the local indices `cells`, for the positions and rest positions `at`.
CellSums cell_sums(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at);
/// Returns the derivatives of the results of `cell_sums` along the change `direction` of the positions and rest
/// positions.
CellSums cell_sums_tangent(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                           const CellPositions& direction);
/// Adds the derivatives of Σ_k w_k s_k with respect to positions x and rest positions X to `adjoint`, whose arrays are
/// [local vertices, 3]; s_k are the entries of the result of `cell_sums`, and w_k are the entries of `w`.
void add_cell_sums_adjoint(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                           const CellSums& w, CellPositions& adjoint);
/// Adds to `adjoint_tangent` the derivatives of the values that `add_cell_sums_adjoint` adds, along the changes
/// `direction` of the positions and rest positions and `dw` of the weights `w`.
void add_cell_sums_adjoint_tangent(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                                   const CellPositions& direction, const CellSums& w, const CellSums& dw,
                                   CellPositions& adjoint_tangent);

}  // namespace diffsim::sensor
