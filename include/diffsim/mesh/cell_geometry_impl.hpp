// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/cell_scatter_impl.hpp"
#include "diffsim/mesh/element_kernels.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// The rest shape at a quadrature point of a pack's cells.
struct PointGeometry {
  Mat3<Pack> inverse;  // (∂X/∂ξ)⁻¹, 1/m
  Pack volume;         // weight det(∂X/∂ξ), m³; 0 for the copies in the last pack
};

/// The rest shape of cells at their quadrature points, by value in kernels; grouped by pack. It is stored, not computed
/// from rest positions where it is needed: with the packs to come asked for ahead, that is the faster
/// (docs/performance.md).
template <class E>
struct CellGeometry {
  DeviceArray<double> inverses;  // (∂X/∂ξ)⁻¹, row-major, 1/m: [packs, points, 9, pack_width]
  DeviceArray<double> volumes;  // weight det(∂X/∂ξ), m³: [packs, points, pack_width]; 0 for the copies in the last pack
  typename E::Rule rule;

  DIFFSIM_FUNCTION int row(int pack, int q) const { return E::Rule::num_points * pack + q; }
  DIFFSIM_FUNCTION PointGeometry at(int pack, int q) const {
    const double* const inverse = &inverses(pack_width * 9 * row(pack, q));
    const double* const volume = &volumes(pack_width * row(pack, q));
    prefetch<9 * pack_width>(inverse + rows_ahead * 9 * pack_width);
    prefetch<pack_width>(volume + rows_ahead * pack_width);
    PointGeometry point;
    for (int i = 0; i < 9; ++i) point.inverse(i / 3, i % 3) = load(inverse + pack_width * i);
    point.volume = load(volume);
    return point;
  }
  DIFFSIM_FUNCTION Mat3<Pack> inverse(int pack, int q) const { return at(pack, q).inverse; }
  DIFFSIM_FUNCTION Pack volume(int pack, int q) const { return at(pack, q).volume; }

  /// How far ahead memory is asked for, in points.
  static constexpr int rows_ahead = 4;
};

/// Calls `function` with a value of the mesh's kind of cell.
template <class Function>
decltype(auto) with_element(const TetrahedralMesh& mesh, const Function& function) {
  if (mesh.order() == 1) return function(Tet4{});
  if (mesh.quadrature_degree() == FineTet10::Rule::degree) return function(FineTet10{});
  return function(Tet10{});
}

/// Factors of the volumes of a pack's cells, from one for each cell, or 1 where there are none.
DIFFSIM_FUNCTION Pack volume_factors(const DeviceArray<double>& factors, int pack, int num_cells) {
  return factors.size() == 0 ? Pack(1.0) : gather_cells(factors.data(), pack, num_cells);
}

/// From rest positions [local vertices, 3]. `cells`: the scatter's cells among the mesh's, empty
/// for all. Throws Error (run) on every rank where a cell has no positive volume. Collective.
template <class E>
void compute_geometry(const TetrahedralMesh& mesh, const CellScatter& scatter, const std::vector<int>& cells,
                      const Field& rest, CellGeometry<E>& geometry);

/// W = (∂dX/∂ξ) (∂X/∂ξ)⁻¹ at a point along a direction dX of the rest shape: fields' gradients change by dF = -F W,
/// volumes by dV = V tr W.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> shape_change(const Vec3<Pack> (&dX)[E::nodes], const typename E::Rule& rule, int q,
                                         const Mat3<Pack>& inverse) {
  Vec3<Pack> y[4];
  E::corners(rule, q, dX, y);
  return edges_of(y) * inverse;
}

/// Adds V Z (∂X/∂ξ)⁻ᵀ to a point's `row` of `sums` [packs, points, 9, pack_width]: the derivative by ∂X/∂ξ of a sum
/// whose derivative along W is V Z : W.
DIFFSIM_FUNCTION void add_shape_derivative(const Mat3<Pack>& Z, const Pack& volume, const Mat3<Pack>& inverse, int row,
                                           double* sums) {
  const Mat3<Pack> M = volume * times_transpose(Z, inverse);
  double* const sum = sums + pack_width * 9 * row;
  for (int i = 0; i < 9; ++i) store(sum + pack_width * i, load(sum + pack_width * i) + M(i / 3, i % 3));
}

/// Rest positions' gradient [local vertices, 3], this rank's shares, from gathered derivatives by ∂X/∂ξ.
template <class E>
void add_shape_gradient(const CellScatter& scatter, const DeviceArray<double>& sums, Field& gradient);

}  // namespace diffsim
