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

/// Averages over the cells around each vertex a, weighted by the cells' rest volumes V_e: J_a = Σ_e V_e J_e / d_a,
/// where d_a = Σ_e V_e and J_e is the volume ratio of cell e. The sums are over all cells e of a term, on all ranks,
/// that have vertex a as a corner. E (in ∂E/∂J_a below) is the elastic energy.
///
/// Each field is [local vertices, 3]. Fields that functions return as const have up-to-date ghost values. Component 0
/// is a value, component 1 is the derivative of this value along a direction, and component 2 is 0.
class NodalAverage {
 public:
  NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter);

  /// Computes the sums d_a of rest volumes, and sets the derivatives of d_a to 0. Collective.
  void prepare(const CellGeometry<Tet4>& geometry);
  /// Computes the sums d_a of rest volumes, and the derivatives of d_a along a direction dX of the rest shape. `dX`:
  /// device address, [local vertices, 3]; nullptr: the derivatives are 0. Collective.
  void prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX);

  /// Returns the averages J_a at positions x, and the derivatives of J_a along dx. `x`, `dx`: device addresses, [local
  /// vertices, 3]. If dx is nullptr, the positions do not contribute to the derivatives. If `with_rest` is true, the
  /// derivatives include the derivatives of d_a along the direction dX of the last call of `prepare_tangent`.
  /// Collective.
  const Field& dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx, bool with_rest);
  /// Returns a field of zeros, to which sweeps over cells add ∂E/∂J_a and the derivative of ∂E/∂J_a along a direction.
  Field& start_pressures();
  /// Returns the quotients (∂E/∂J_a)/d_a, with ∂E/∂J_a summed over all ranks, and the derivatives of these quotients.
  /// If `with_rest` is true, the derivatives include the derivatives of d_a. Collective.
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
