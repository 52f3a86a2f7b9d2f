// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/cell_scatter.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

struct Tet4;
template <class E>
struct CellGeometry;

namespace elastic {

/// Average volume ratio J_a = Σ_e V_e J_e / d_a around each vertex a, where V_e is the rest volume of cell e, J_e the
/// ratio of current to rest volume of cell e, and d_a = Σ_e V_e. The sums are over all cells e of a force term, on all
/// ranks, that have vertex a as a corner. NodalAverage also sums the derivatives ∂E/∂J_a of the force term's elastic
/// energy E.
///
/// Each field of NodalAverage has the shape [local vertices, 3]. Component 0 is a value, component 1 is the derivative
/// of this value along a direction, and component 2 is 0. Fields returned as const references have up-to-date ghost
/// values.
class NodalAverage {
 public:
  NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter);

  /// Computes the sum d_a of the rest volumes around each vertex a, and sets the derivatives of d_a to 0. Collective.
  void prepare(const CellGeometry<Tet4>& geometry);
  /// Computes the sum d_a of the rest volumes around each vertex a, and the derivatives of d_a along a direction dX of
  /// the rest positions. `dX`: device address, [local vertices, 3]; nullptr: the derivatives of d_a are 0. Collective.
  void prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX);

  /// Returns the average volume ratios J_a at the vertices a for positions x, and the derivatives of J_a along a
  /// direction dx of the positions. `x`, `dx`: device addresses, [local vertices, 3]. If dx is nullptr, the positions
  /// do not contribute to the derivatives. If `with_rest` is true, the derivatives include the contribution of the
  /// derivatives of the sums d_a of rest volumes that the last call of `prepare_tangent` computed. Collective.
  const Field& dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx, bool with_rest);
  /// Returns a field of zeros, to which kernels add the contributions of cells to ∂E/∂J_a (component 0) and to the
  /// derivative of ∂E/∂J_a along a direction (component 1).
  Field& start_pressures();
  /// Returns the quotients (∂E/∂J_a)/d_a for all vertices a, with ∂E/∂J_a summed over all ranks and the sum d_a of the
  /// rest volumes around vertex a, and the derivatives of these quotients along a direction. If `with_rest` is true,
  /// the derivatives include the contribution of the derivatives of d_a. Collective.
  const Field& finish_pressures(bool with_rest);

 private:
  /// Replaces each value of `field` by the sum of the contributions of all ranks, and updates the ghost values of
  /// `field`. Collective.
  void total(Field& field) const;

  const TetrahedralMesh* mesh_;
  const CellScatter* scatter_;
  Field weights_, dilatations_, pressures_;
};

}  // namespace elastic
}  // namespace diffsim
