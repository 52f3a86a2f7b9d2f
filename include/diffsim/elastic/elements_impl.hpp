// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/law.hpp"
#include "diffsim/mesh/cell_geometry_impl.hpp"

namespace diffsim::elastic {

/// Whether a law has a modulus that a control signal multiplies: `signal` names it, `signal_modulus` is its number.
template <class L>
inline constexpr bool has_signal = requires {
  L::signal_modulus;
};

/// The modulus that a signal multiplies, or -1.
template <class L>
DIFFSIM_FUNCTION constexpr int signal_modulus() {
  if constexpr (has_signal<L>)
    return L::signal_modulus;
  else
    return -1;
}

/// Cells of one law, by value in kernels. Arrays are grouped by pack: [packs, …, pack_width].
template <Law L, class E>
struct Elements {
  static constexpr int K = L::num_moduli;
  CellGeometry<E> geometry;
  DeviceArray<double> moduli;      // one row for all packs where the moduli are uniform
  int moduli_stride = 0;           // 0: uniform; else K·pack_width
  const double* signal = nullptr;  // of the step at hand, device address; nullptr: 1
  DeviceArray<int> cells;          // local cell of each entry; empty: all cells of the mesh, in order
  int num_cells = 0;

  DIFFSIM_FUNCTION double signal_value() const { return signal ? *signal : 1.0; }
  /// Without the signal.
  DIFFSIM_FUNCTION Pack modulus(int pack, int k) const { return load(&moduli(moduli_stride * pack + pack_width * k)); }
  DIFFSIM_FUNCTION void moduli_at(int pack, Pack (&m)[K]) const {
    if (moduli_stride != 0) prefetch<K * pack_width>(&moduli(moduli_stride * pack) + packs_ahead * K * pack_width);
    for (int k = 0; k < K; ++k) m[k] = modulus(pack, k);
    if constexpr (has_signal<L>) m[L::signal_modulus] *= Pack(signal_value());
  }
  /// Local cell of a lane; the copies in the last pack stand for the last cell.
  DIFFSIM_FUNCTION int cell_at(int pack, int i) const {
    const int entry = pack_width * pack + i;
    const int cell = entry < num_cells ? entry : num_cells - 1;
    return cells.size() == 0 ? cell : cells(cell);
  }
};

/// The gradient of a field at point q from its nodes' values: (∂x/∂ξ) (∂X/∂ξ)⁻¹.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> gradient_at(const Vec3<Pack> (&x)[E::nodes], int q, const Mat3<Pack>& inverse) {
  if constexpr (E::points == 1) {
    return edges_of(x) * inverse;
  } else {
    Vec3<Pack> y[4];
    E::corners(q, x, y);
    return edges_of(y) * inverse;
  }
}

/// Adds -V A (∂X/∂ξ)⁻ᵀ, spread over the nodes: the forces of a stress A at point q. The first point sets.
template <class E>
DIFFSIM_FUNCTION void add_node_forces(const Mat3<Pack>& A, const Mat3<Pack>& inverse, const Pack& volume, int q,
                                      Vec3<Pack> (&value)[E::nodes]) {
  const Mat3<Pack> scaled = (-volume) * times_transpose(A, inverse);
  if constexpr (E::points == 1) {
    edges_adjoint(scaled, value);
  } else {
    Vec3<Pack> y[4];
    edges_adjoint(scaled, y);
    if (q == 0)
      for (int a = 0; a < E::nodes; ++a)
        for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    E::add_corners_adjoint(q, y, value);
  }
}

/// Sets every component of `value` to the largest eigenvalue of each element's symmetric matrix, by power iteration.
/// `stress_of_gradient(∇u)` is the stress of a small displacement u at rest.
template <class E, class Stress>
DIFFSIM_FUNCTION void largest_eigenvalue(const CellGeometry<E>& geometry, int pack, const Stress& stress_of_gradient,
                                         Vec3<Pack> (&value)[E::nodes]) {
  using std::sqrt;
  constexpr int iterations = 40;
  Vec3<Pack> u[E::nodes];
  for (int a = 0; a < E::nodes; ++a)
    for (int c = 0; c < 3; ++c) u[a][c] = Pack(1.0 / (1.0 + 3.0 * a + 7.0 * c) - 0.2 * (a == c ? 1.0 : 0.0));
  Pack eigenvalue = 0.0;
  for (int i = 0; i < iterations; ++i) {
    for (int q = 0; q < E::points; ++q) {
      const auto [inverse, volume] = geometry.at(pack, q);
      add_node_forces<E>(stress_of_gradient(gradient_at<E>(u, q, inverse)), inverse, volume, q, value);
    }
    Pack norm = 1e-300;
    for (int a = 0; a < E::nodes; ++a) norm += dot(value[a], value[a]);
    eigenvalue = sqrt(norm);
    const Pack inverse_norm = Pack(1.0) / eigenvalue;
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) u[a][c] = value[a][c] * inverse_norm;
  }
  for (int a = 0; a < E::nodes; ++a)
    for (int c = 0; c < 3; ++c) value[a][c] = eigenvalue;
}

}  // namespace diffsim::elastic
