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

/// Average volume ratio J_a = Σ_e V_e J_e / d_a around each vertex a, over the cells e with the rest volumes V_e and
/// the volume ratios J_e, where d_a = Σ_e V_e. J_e is the ratio of current to rest volume of cell e. The average volume
/// ratio J_a around vertex a is over all cells of a force term, on all ranks, that have vertex a as a corner. In the
/// derivatives ∂E/∂J_a that NodalAverage sums, E is the elastic energy of the force term and J_a is the average volume
/// ratio around vertex a.
///
/// Each field of NodalAverage has the shape [local vertices, 3]. Component 0 is a value, component 1 is the derivative
/// of this value along a direction, and component 2 is 0. In fields that member functions of NodalAverage return as
/// const references, the ghost values are up to date.
class NodalAverage {
 public:
  NodalAverage(const TetrahedralMesh& mesh, const CellScatter& scatter);

  /// Computes the sum d_a of the rest volumes around each vertex a, and sets the derivatives of d_a to 0. Collective.
  void prepare(const CellGeometry<Tet4>& geometry);
  /// Computes the sum d_a of the rest volumes around each vertex a, and the derivatives of d_a along a direction dX of
  /// the rest positions. `dX`: device address of the direction of the rest positions, [local vertices, 3]; nullptr: the
  /// derivatives of the sums d_a of rest volumes are 0. Collective.
  void prepare_tangent(const CellGeometry<Tet4>& geometry, const double* dX);

  /// Returns the average volume ratios J_a at the vertices a for positions x, and the derivatives of J_a along a
  /// direction dx of the positions. `x`, `dx`: device addresses of the positions and of a direction of the positions,
  /// [local vertices, 3]. If dx is nullptr, the positions do not contribute to the derivatives of the average volume
  /// ratios J_a. If the argument `with_rest` is true, the derivatives of the average volume ratios J_a include the
  /// contribution of the derivatives of the sums d_a of rest volumes that the last call of `prepare_tangent` computed.
  /// Collective.
  const Field& dilatations(const CellGeometry<Tet4>& geometry, const double* x, const double* dx, bool with_rest);
  /// Returns a field of zeros, to which kernels add the contributions of cells to ∂E/∂J_a (component 0) and to the
  /// derivative of ∂E/∂J_a along a direction (component 1), with the elastic energy E and the average volume ratio J_a
  /// around vertex a.
  Field& start_pressures();
  /// Returns the quotients (∂E/∂J_a)/d_a for all vertices a, and the derivatives of these quotients along a direction,
  /// where ∂E/∂J_a is the derivative of the elastic energy E with respect to the average volume ratio J_a, summed over
  /// all ranks, and d_a is the sum of the rest volumes around vertex a. If the argument `with_rest` is true, the
  /// derivatives of the quotients (∂E/∂J_a)/d_a include the contribution of the derivatives of the sums d_a of rest
  /// volumes. Collective.
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
