// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/cell_scatter.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

struct Tet4;
template <class E>
struct CellGeometry;

namespace elastic {

/// Averages over the cells around each vertex, weighted by their volumes at rest: J_a = Σ_e V_e J_e / d_a, d_a = Σ_e
/// V_e, over the cells e of a term, on all ranks, that have a corner a.
///
/// Fields are [local vertices, 3], copies up to date: a value, its derivative along a direction, and 0.
class NodalAverage {
 public:
  NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter);

  /// d, and its derivative along dX, a direction of the rest shape (device address) or nullptr. Collective.
  void prepare(const CellGeometry<Tet4>& geometry);
  void prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX);

  /// J at positions x, and its derivative along dx, or nullptr. `with_rest`: along dX too. Collective.
  const Field& dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx, bool with_rest);
  /// Zeroed, for sums over cells of ∂E/∂J_a; then `finish_pressures` divides their totals by d. Collective.
  Field& start_pressures();
  const Field& finish_pressures(bool with_rest);

 private:
  void total(Field& field) const;

  const TetrahedralMesh* mesh_;
  const CellScatter* scatter_;
  Field weights_, dilatations_, pressures_;
};

}  // namespace elastic
}  // namespace diffsim
