// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/cell_scatter_impl.hpp"
#include "diffsim/mesh/element_kernels.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// The rest shape at a quadrature point of a pack's cells.
struct PointGeometry {
  Mat3<Pack> inverse;  // (∂X/∂ξ)⁻¹, 1/m
  Pack volume;         // det(∂X/∂ξ)/6/points, m³; 0 for the copies in the last pack
};

/// The rest shape of cells at their quadrature points, by value in kernels; grouped by pack. It is stored, not computed
/// from rest positions where it is needed: with the packs to come asked for ahead, that is the faster
/// (docs/performance.md).
template <class E>
struct CellGeometry {
  DeviceArray<double> inverses;  // (∂X/∂ξ)⁻¹, row-major, 1/m: [packs, points, 9, pack_width]
  DeviceArray<double>
      volumes;  // det(∂X/∂ξ)/6/points, m³: [packs, points, pack_width]; 0 for the copies in the last pack

  DIFFSIM_FUNCTION PointGeometry at(int pack, int q) const {
    const int row = E::points * pack + q;
    const double* const inverse = &inverses(pack_width * 9 * row);
    const double* const volume = &volumes(pack_width * row);
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

/// Computes `geometry` from rest positions; lowers `invalid` to the smallest cell without positive volume at a point.
template <class E>
struct ComputeGeometry {
  CellGeometry<E> geometry;
  DeviceArray<int> vertices;
  const double* rest;
  int num_cells;
  std::int32_t* invalid;

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    Vec3<Pack> X[E::nodes], Y[4];
    gather_nodes(&vertices(E::nodes * pack_width * pack), rest, X);
    for (int q = 0; q < E::points; ++q) {
      E::corners(q, X, Y);
      const Mat3<Pack> derivative = edges_of(Y);
      const Mat3<Pack> inverted = inverse(derivative);
      const Pack volume = determinant(derivative) * (1.0 / 6.0 / E::points);
      const int row = E::points * pack + q;
      for (int i = 0; i < 9; ++i) store(&geometry.inverses(pack_width * (9 * row + i)), inverted(i / 3, i % 3));
      for (int i = 0; i < pack_width; ++i) {
        const int cell = pack_width * pack + i;
        geometry.volumes(pack_width * row + i) = cell < num_cells ? lane(volume, i) : 0.0;
        if (cell < num_cells && !(lane(volume, i) > 0.0)) Kokkos::atomic_fetch_min(invalid, cell);
      }
    }
  }
};

/// From rest positions [local vertices, 3]. `cells`: the scatter's cells among the mesh's, empty for all. Throws Error
/// (run) on every rank where a cell has no positive volume. Collective.
template <class E>
void compute_geometry(const TetrahedralMesh& mesh, const CellScatter& scatter, const std::vector<int>& cells,
                      const Field& rest, CellGeometry<E>& geometry) {
  const auto points = static_cast<std::size_t>(E::points * pack_width) * static_cast<std::size_t>(scatter.num_packs());
  if (geometry.volumes.size() != points) {
    geometry.inverses = make_device_array<double>("diffsim::mesh::inverses", 9 * points);
    geometry.volumes = make_device_array<double>("diffsim::mesh::volumes", points);
  }
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  DeviceArray<std::int32_t> invalid("diffsim::mesh::invalid", 1);
  Kokkos::deep_copy(invalid, none);
  Kokkos::parallel_for(
      "diffsim::mesh::geometry", Range(0, scatter.num_packs()),
      ComputeGeometry<E>{geometry, scatter.data().vertices, rest.data(), scatter.num_cells(), invalid.data()});
  auto found = Kokkos::create_mirror_view(invalid);
  Kokkos::deep_copy(found, invalid);
  collectively(mesh.comm(), [&] {
    if (found(0) == none) return;
    const auto entry = static_cast<std::size_t>(found(0));
    const std::size_t cell = cells.empty() ? entry : static_cast<std::size_t>(cells[entry]);
    throw Error("rest shape: cell " + std::to_string(mesh.cell_order().file_index()[cell]) +
                    " has no positive volume; keep rest positions closer to the mesh's",
                ErrorKind::run);
  });
}

/// W = (∂dX/∂ξ) (∂X/∂ξ)⁻¹ at a point along a direction dX of the rest shape: fields' gradients change by dF = -F W,
/// volumes by dV = V tr W.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> shape_change(const Vec3<Pack> (&dX)[E::nodes], int q, const Mat3<Pack>& inverse) {
  Vec3<Pack> y[4];
  E::corners(q, dX, y);
  return edges_of(y) * inverse;
}

/// Adds V Z (∂X/∂ξ)⁻ᵀ to the point's row of `sums` [packs, points, 9, pack_width]: the derivative by ∂X/∂ξ of a sum
/// whose derivative along W is V Z : W.
template <class E>
DIFFSIM_FUNCTION void add_shape_derivative(const Mat3<Pack>& Z, const Pack& volume, const Mat3<Pack>& inverse, int pack,
                                           int q, double* sums) {
  const Mat3<Pack> M = volume * times_transpose(Z, inverse);
  double* const row = sums + pack_width * 9 * (E::points * pack + q);
  for (int i = 0; i < 9; ++i) store(row + pack_width * i, load(row + pack_width * i) + M(i / 3, i % 3));
}

/// Corner sums of derivatives by ∂X/∂ξ, as `add_shape_derivative` gathered them.
template <class E>
struct ShapeGradient {
  const double* sums;
  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, Vec3<Pack> (&value)[E::nodes]) const {
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    for (int q = 0; q < E::points; ++q) {
      Mat3<Pack> M;
      for (int i = 0; i < 9; ++i) M(i / 3, i % 3) = load(sums + pack_width * (9 * (E::points * pack + q) + i));
      Vec3<Pack> y[4];
      edges_adjoint(M, y);
      E::add_corners_adjoint(q, y, value);
    }
  }
};

/// Rest positions' gradient [local vertices, 3], this rank's shares, from gathered derivatives by ∂X/∂ξ.
template <class E>
void add_shape_gradient(const CellScatter& scatter, const DeviceArray<double>& sums, Field& gradient) {
  for_each_cell<E::nodes>("diffsim::mesh::shape_gradient", scatter, gradient.data(), ShapeGradient<E>{sums.data()});
}

}  // namespace diffsim
