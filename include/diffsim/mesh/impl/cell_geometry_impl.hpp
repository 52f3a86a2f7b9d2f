// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <variant>
#include <vector>

#include "diffsim/core/impl/cell_scatter_impl.hpp"
#include "diffsim/mesh/impl/element_kernels.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Rest geometry at one quadrature point of each cell of a pack (SIMD vector of cells): the inverse of ∂X/∂ξ and the
/// volume that the quadrature point represents. X is the rest position, and ξ are the coordinates in the reference
/// tetrahedron.
struct PointGeometry {
  Mat3<Pack> inverse;  // (∂X/∂ξ)⁻¹, 1/m
  // Volume factor (TetrahedralMesh::volume_factors) · quadrature weight · det(∂X/∂ξ) in m³; 0 for cells that pad the
  // last pack.
  Pack volume;
};

/// Rest geometry at all quadrature points of cells, grouped by pack (SIMD vector of cells): the inverses of ∂X/∂ξ and
/// the volumes that the quadrature points represent. X is the rest position, and ξ are the coordinates in the reference
/// tetrahedron. Kernels capture CellGeometry by value. The rest geometry is computed once and stored, because loading
/// stored values with prefetch is faster than a computation from the rest positions in each kernel
/// (docs/performance.md).
template <class E>
struct CellGeometry {
  DeviceArray<double> inverses;  // (∂X/∂ξ)⁻¹ in 1/m, row-major: [packs, points, 9, pack_width]
  // Volume factor (TetrahedralMesh::volume_factors) · quadrature weight · det(∂X/∂ξ) in m³: [packs, points,
  // pack_width]. The values of cells that pad the last pack are 0.
  DeviceArray<double> volumes;
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

  /// Prefetch distance, in quadrature points.
  static constexpr int rows_ahead = 4;
};

/// Element type of the tetrahedra of a mesh, one of three empty structs. `std::visit` of an ElementType calls a
/// function template with the struct of the element type.
using ElementType = std::variant<Tet4, Tet10, FineTet10>;

/// Returns the element type of the tetrahedra of a mesh.
inline ElementType element_of(const TetrahedralMesh& mesh) {
  if (mesh.order() == 1) return Tet4{};
  if (mesh.quadrature_degree() == FineTet10::Rule::degree) return FineTet10{};
  return Tet10{};
}

/// Returns, for the cells of one SIMD pack, the ratio of the represented volume to the cell's volume
/// (TetrahedralMesh::volume_factors). `factors`: this ratio for each cell, [cells]; empty if all ratios are 1.
DIFFSIM_FUNCTION Pack volume_factors(const DeviceArray<double>& factors, int pack, int num_cells) {
  return factors.size() == 0 ? Pack(1.0) : gather_cells(factors.data(), pack, num_cells);
}

/// Computes the rest geometry `geometry` of the cells of the CellScatter `scatter` from the rest positions `rest`
/// [local vertices, 3]. `cells`: local number in `mesh` of each cell of `scatter`; `cells` is empty if `scatter` covers
/// all cells of the mesh. Throws Error of kind `run` on every rank if det(∂X/∂ξ) of any cell is not positive at a
/// quadrature point, where X is the rest position and ξ are the coordinates in the reference tetrahedron. Collective.
template <class E>
void compute_geometry(const TetrahedralMesh& mesh, const CellScatter& scatter, const std::vector<int>& cells,
                      const Field& rest, CellGeometry<E>& geometry);

/// Returns W = (∂dX/∂ξ) (∂X/∂ξ)⁻¹ at quadrature point q for a change dX of the rest positions X, where ξ are the
/// coordinates in the reference tetrahedron. To first order in dX, the gradient F of a field with respect to X changes
/// by dF = -F W, and the volume V of the quadrature point changes by dV = V tr W.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> shape_change(const Vec3<Pack> (&dX)[E::nodes], const typename E::Rule& rule, int q,
                                         const Mat3<Pack>& inverse) {
  Vec3<Pack> y[4];
  E::corners(rule, q, dX, y);
  return edges_of(y) * inverse;
}

/// Adds V Z (∂X/∂ξ)⁻ᵀ to row `row` (CellGeometry::row) of `sums` [packs, points, 9, pack_width], where Z is a 3×3
/// matrix, V is `volume`, (∂X/∂ξ)⁻¹ is `inverse`, X is the rest position, and ξ are the coordinates in the reference
/// tetrahedron. The added matrix is the derivative, with respect to ∂X/∂ξ, of a scalar whose derivative along a change
/// dX of the rest positions is V Z : W, with the matrix W of shape_change().
DIFFSIM_FUNCTION void add_shape_derivative(const Mat3<Pack>& Z, const Pack& volume, const Mat3<Pack>& inverse, int row,
                                           double* sums) {
  const Mat3<Pack> M = volume * times_transpose(Z, inverse);
  double* const sum = sums + pack_width * 9 * row;
  for (int i = 0; i < 9; ++i) store(sum + pack_width * i, load(sum + pack_width * i) + M(i / 3, i % 3));
}

/// Adds this rank's contribution to `gradient` [local vertices, 3], the gradient of a scalar with respect to the rest
/// positions X. `sums`: derivatives of the scalar with respect to ∂X/∂ξ at the quadrature points, as accumulated by
/// add_shape_derivative(), where ξ are the coordinates in the reference tetrahedron.
template <class E>
void add_shape_gradient(const CellScatter& scatter, const DeviceArray<double>& sums, Field& gradient);

}  // namespace diffsim
