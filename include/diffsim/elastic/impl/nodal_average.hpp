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

/// Averages J_a of the cells' volume ratios around each vertex a, weighted by the cells' rest volumes V_e: J_a = Σ_e
/// V_e J_e / d_a with d_a = Σ_e V_e. J_e is the ratio of current to rest volume of cell e. The sums are over all cells
/// e of a force term, on all ranks, that have vertex a as a corner. E (in ∂E/∂J_a below) is the elastic energy of the
/// term.
///
/// Each field is [local vertices, 3]. Component 0 is a value, component 1 is the derivative of this value along a
/// direction, and component 2 is 0. Fields that functions return as const have up-to-date ghost values.
class NodalAverage {
 public:
  NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter);

  /// Computes the sum d_a of the rest volumes around each vertex a, and sets the derivatives of d_a to 0. Collective.
  void prepare(const CellGeometry<Tet4>& geometry);
  /// Computes the sum d_a of the rest volumes around each vertex a, and the derivatives of d_a along a direction dX of
  /// the rest positions. `dX`: device address, [local vertices, 3]; nullptr: the derivatives are 0. Collective.
  void prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX);

  /// Returns the average volume ratios J_a at the vertices a for positions x, and the derivatives of J_a along a
  /// direction dx of the positions. `x`, `dx`: device addresses, [local vertices, 3]. If dx is nullptr, the positions
  /// do not contribute to the derivatives. If `with_rest` is true, the derivatives include the contribution of the
  /// derivatives of the sums d_a of rest volumes that the last call of `prepare_tangent` computed. Collective.
  const Field& dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx, bool with_rest);
  /// Returns a field of zeros. Kernels add to the field the contributions of cells to ∂E/∂J_a (component 0) and to the
  /// derivative of ∂E/∂J_a along a direction (component 1).
  Field& start_pressures();
  /// Returns the quotients (∂E/∂J_a)/d_a for all vertices a, and the derivatives of these quotients along a direction.
  /// ∂E/∂J_a is summed over all ranks; d_a is the sum of the rest volumes around vertex a. If `with_rest` is true, the
  /// derivatives include the derivatives of d_a. Collective.
  const Field& finish_pressures(bool with_rest);

 private:
  /// Sums the contributions of all ranks to `field`, and updates the ghost values. Collective.
  void total(Field& field) const;

  const TetrahedralMesh* mesh_;
  const CellScatter* scatter_;
  Field weights_, dilatations_, pressures_;
};

}  // namespace elastic
}  // namespace diffsim
