// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/compiled_elsewhere.hpp"
#include "diffsim/elastic/law.hpp"
#include "diffsim/mesh/impl/cell_geometry_impl.hpp"

namespace diffsim::elastic {

/// True if the law L has a control signal: a parameter of the whole force term that multiplies one modulus in all
/// cells. `L::signal` is the specification of the control signal of the law L, and `L::signal_modulus` is the index of
/// the modulus that the control signal multiplies.
template <class L>
inline constexpr bool has_signal = requires {
  L::signal_modulus;
};

/// Returns the index of the modulus that is multiplied by the material law's control signal, or -1 if the law has no
/// control signal.
template <class L>
DIFFSIM_FUNCTION constexpr int signal_modulus() {
  if constexpr (has_signal<L>)
    return L::signal_modulus;
  else
    return -1;
}

/// Returns the name of the control signal of the law L; empty if the law has no control signal.
template <class L>
constexpr std::string_view signal_name() {
  if constexpr (has_signal<L>)
    return L::signal.name;
  else
    return {};
}

/// Cells on which a force term acts. Kernels capture TermCells by value.
struct TermCells {
  DeviceArray<int> cells;  // local index of each cell; empty: all cells of the mesh, in order
  int num_cells = 0;

  /// Returns the local index of the cell in lane i of a pack. Padding lanes of the last pack repeat the last cell.
  DIFFSIM_FUNCTION int cell_at(int pack, int i) const { return cell_of(pack_width * pack + i); }
  /// Returns the local index of the cell with the index `place` among the force term's cells. If the index `place` is
  /// not less than the number of the force term's cells, returns the local index of the last cell.
  DIFFSIM_FUNCTION int cell_of(int place) const {
    const int entry = place < num_cells ? place : num_cells - 1;
    return cells.size() == 0 ? entry : cells(entry);
  }
};

/// Cells on which the force term of the law L acts, with the moduli of each cell. The arrays of LawCells are stored
/// pack by pack, [packs, …, pack_width]; a pack consists of pack_width cells, one per SIMD lane.
template <Law L>
struct LawCells : TermCells {
  static constexpr int K = L::num_moduli;
  DeviceArray<double> moduli;      // [packs, K, pack_width]; [1, K, pack_width] if the moduli are uniform
  int moduli_stride = 0;           // 0 if the moduli are uniform, else K·pack_width
  const double* signal = nullptr;  // device address of the control signal's value in the time step; nullptr: 1

  DIFFSIM_FUNCTION double signal_value() const { return signal ? *signal : 1.0; }
  /// Returns modulus k of the cells of a pack, not multiplied by the material law's control signal.
  DIFFSIM_FUNCTION Pack modulus(int pack, int k) const { return load(&moduli(moduli_stride * pack + pack_width * k)); }
  /// Loads all moduli of the cells of a pack, and multiplies the modulus with the index `L::signal_modulus` by the
  /// material law's control signal.
  DIFFSIM_FUNCTION void moduli_at(int pack, Pack (&m)[K]) const {
    if (moduli_stride != 0) prefetch<K * pack_width>(&moduli(moduli_stride * pack) + packs_ahead * K * pack_width);
    for (int k = 0; k < K; ++k) m[k] = modulus(pack, k);
    if constexpr (has_signal<L>) m[L::signal_modulus] *= Pack(signal_value());
  }
};

/// Cells of type E on which the force term of the law L acts, with the moduli and the rest shape of each cell.
template <Law L, class E>
struct Elements : LawCells<L> {
  CellGeometry<E> geometry;
};

/// Inlined version of `gradient_at`: returns the gradient of a field with respect to the rest positions at quadrature
/// point q.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> inlined_gradient(const Vec3<Pack> (&x)[E::nodes], const typename E::Rule& rule, int q,
                                             const Mat3<Pack>& inverse) {
  if constexpr (E::Rule::num_points == 1) {
    return edges_of(x) * inverse;
  } else {
    Vec3<Pack> y[4];
    E::corners(rule, q, x, y);
    return edges_of(y) * inverse;
  }
}
/// Inlined version of `add_node_forces`: adds the nodal forces of a stress A at quadrature point q.
template <class E>
DIFFSIM_FUNCTION void add_inlined_forces(const Mat3<Pack>& A, const Mat3<Pack>& inverse, const Pack& volume,
                                         const typename E::Rule& rule, int q, Vec3<Pack> (&value)[E::nodes]) {
  const Mat3<Pack> scaled = (-volume) * times_transpose(A, inverse);
  if constexpr (E::Rule::num_points == 1) {
    edges_adjoint(scaled, value);
  } else {
    Vec3<Pack> y[4];
    edges_adjoint(scaled, y);
    if (q == 0)
      for (int a = 0; a < E::nodes; ++a)
        for (int c = 0; c < 3; ++c) value[a][c] = 0.0;
    E::add_corners_adjoint(rule, q, y, value);
  }
}
/// Version of `gradient_at` that is not inlined: returns the gradient of a field with respect to the rest positions at
/// quadrature point q.
template <class E>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> called_gradient(const Vec3<Pack> (&x)[E::nodes], const typename E::Rule& rule, int q,
                                                   const Mat3<Pack>& inverse) {
  return inlined_gradient<E>(x, rule, q, inverse);
}
/// Version of `add_node_forces` that is not inlined: adds the nodal forces of a stress A at quadrature point q.
template <class E>
DIFFSIM_SHARED_FUNCTION void add_called_forces(const Mat3<Pack>& A, const Mat3<Pack>& inverse, const Pack& volume,
                                               const typename E::Rule& rule, int q, Vec3<Pack> (&value)[E::nodes]) {
  add_inlined_forces<E>(A, inverse, volume, rule, q, value);
}

/// Returns the gradient (∂x/∂ξ) (∂X/∂ξ)⁻¹ of a field x with respect to the rest positions X at quadrature point q, with
/// the reference coordinates ξ of the cell. `x`: values of the field at the nodes of the cells; `inverse`: (∂X/∂ξ)⁻¹.
/// For cell types with many quadrature points (`E::compact`), a function that is not inlined computes the gradient, so
/// that less code is compiled.
template <class E>
DIFFSIM_FUNCTION Mat3<Pack> gradient_at(const Vec3<Pack> (&x)[E::nodes], const typename E::Rule& rule, int q,
                                        const Mat3<Pack>& inverse) {
  if constexpr (E::compact)
    return called_gradient<E>(x, rule, q, inverse);
  else
    return inlined_gradient<E>(x, rule, q, inverse);
}

/// True if a kernel that stores arrays per quadrature point processes all quadrature points of a cell together.
template <class E>
inline constexpr bool all_at_once = E::Rule::num_points <= E::points_at_once;

/// Returns the number of quadrature points, beginning with point `first`, that a kernel with arrays per quadrature
/// point processes together.
template <class E>
DIFFSIM_FUNCTION constexpr int num_points_from(int first) {
  if constexpr (all_at_once<E>) {
    return E::Rule::num_points;
  } else {
    const int left = E::Rule::num_points - first;
    return left < E::points_at_once ? left : E::points_at_once;
  }
}

/// Computes the gradients of `field` with respect to the rest positions, for the cells of a pack, at
/// `num_points_from(first)` successive quadrature points that begin with point `first`.
template <class E>
DIFFSIM_SHARED_FUNCTION void gradients_at(const CellGeometry<E>& geometry, int pack, int first, const int* vertices,
                                          const double* field, Mat3<Pack> (&gradient)[E::points_at_once]) {
  if constexpr (all_at_once<E>) first = 0;
  Vec3<Pack> nodes[E::nodes];
  gather_nodes(vertices, field, nodes);
  const int count = num_points_from<E>(first);
  for (int i = 0; i < count; ++i)
    gradient[i] = inlined_gradient<E>(nodes, geometry.rule, first + i, geometry.inverse(pack, first + i));
}

/// Adds to `value` the nodal forces of a stress A at quadrature point q: -V A ∂N_a/∂X at node a, where V is `volume`,
/// N_a is the shape function of node a, and X are the rest positions. At quadrature point q = 0, `add_node_forces`
/// overwrites `value`; a loop over the quadrature points must therefore begin with q = 0.
template <class E>
DIFFSIM_FUNCTION void add_node_forces(const Mat3<Pack>& A, const Mat3<Pack>& inverse, const Pack& volume,
                                      const typename E::Rule& rule, int q, Vec3<Pack> (&value)[E::nodes]) {
  if constexpr (E::compact)
    add_called_forces<E>(A, inverse, volume, rule, q, value);
  else
    add_inlined_forces<E>(A, inverse, volume, rule, q, value);
}

/// Version of `add_node_forces` that is not inlined and that loads (∂X/∂ξ)⁻¹ and the rest volume of quadrature point q
/// from `geometry`.
template <class E>
DIFFSIM_SHARED_FUNCTION void add_point_forces(const CellGeometry<E>& geometry, int pack, int q, const Mat3<Pack>& A,
                                              Vec3<Pack> (&value)[E::nodes]) {
  const auto [inverse, volume] = geometry.at(pack, q);
  add_inlined_forces<E>(A, inverse, volume, geometry.rule, q, value);
}

/// Returns an estimate of the largest eigenvalue λ of a symmetric matrix A for each cell of a pack. The block of the
/// nodes a and b in A is A_ab = Σ_q V g_a · H · g_b, summed over the quadrature points q with rest volumes V, where g_a
/// = ∂N_a/∂X is the gradient of the shape function of node a, and H [9, 9] (row-major) is the derivative of a stress
/// with respect to the displacement gradient in the rest shape, the same at all quadrature points. The estimate is
/// |Aⁿu|/|Aⁿ⁻¹u| ≤ λ, the result of n = 40 power iterations from a fixed vector u. The ratio |Aⁿu|/|Aⁿ⁻¹u| does not
/// decrease with n, so the estimate is at least c^(1/n) λ, where c is the cosine of the angle between u and the
/// eigenspace of λ: at least 0.64 λ if c ≥ 2·10⁻⁸.
template <class E>
DIFFSIM_SHARED_FUNCTION Pack largest_eigenvalue(const CellGeometry<E>& geometry, int pack, const Pack (&H)[9][9]) {
  using std::sqrt;
  constexpr int iterations = 40;
  Vec3<Pack> u[E::nodes], value[E::nodes];
  for (int a = 0; a < E::nodes; ++a)
    for (int c = 0; c < 3; ++c) u[a][c] = Pack(1.0 / (1.0 + 3.0 * a + 7.0 * c) - 0.2 * (a == c ? 1.0 : 0.0));
  Pack eigenvalue = 0.0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = geometry.at(pack, q);
      const Mat3<Pack> gradient = inlined_gradient<E>(u, geometry.rule, q, inverse);
      Mat3<Pack> stress = Mat3<Pack>::zero();
      for (int k = 0; k < 9; ++k)
        for (int i = 0; i < 9; ++i) stress(i / 3, i % 3) += H[i][k] * gradient(k / 3, k % 3);
      add_inlined_forces<E>(stress, inverse, volume, geometry.rule, q, value);
    }
    Pack norm = 1e-300;
    for (int a = 0; a < E::nodes; ++a) norm += dot(value[a], value[a]);
    eigenvalue = sqrt(norm);
    const Pack inverse_norm = Pack(1.0) / eigenvalue;
    for (int a = 0; a < E::nodes; ++a)
      for (int c = 0; c < 3; ++c) u[a][c] = value[a][c] * inverse_norm;
  }
  return eigenvalue;
}

DIFFSIM_COMPILED_ELSEWHERE(void gradients_at<Tet4>(const CellGeometry<Tet4>&, int, int, const int*, const double*,
                                                   Mat3<Pack> (&)[Tet4::points_at_once]))
DIFFSIM_COMPILED_ELSEWHERE(void add_point_forces<Tet4>(const CellGeometry<Tet4>&, int, int, const Mat3<Pack>&,
                                                       Vec3<Pack> (&)[Tet4::nodes]))
DIFFSIM_COMPILED_ELSEWHERE(Pack largest_eigenvalue<Tet4>(const CellGeometry<Tet4>&, int, const Pack (&)[9][9]))
DIFFSIM_COMPILED_ELSEWHERE(void gradients_at<Tet10>(const CellGeometry<Tet10>&, int, int, const int*, const double*,
                                                    Mat3<Pack> (&)[Tet10::points_at_once]))
DIFFSIM_COMPILED_ELSEWHERE(void add_point_forces<Tet10>(const CellGeometry<Tet10>&, int, int, const Mat3<Pack>&,
                                                        Vec3<Pack> (&)[Tet10::nodes]))
DIFFSIM_COMPILED_ELSEWHERE(Pack largest_eigenvalue<Tet10>(const CellGeometry<Tet10>&, int, const Pack (&)[9][9]))
DIFFSIM_COMPILED_ELSEWHERE(void gradients_at<FineTet10>(const CellGeometry<FineTet10>&, int, int, const int*,
                                                        const double*, Mat3<Pack> (&)[FineTet10::points_at_once]))
DIFFSIM_COMPILED_ELSEWHERE(void add_point_forces<FineTet10>(const CellGeometry<FineTet10>&, int, int, const Mat3<Pack>&,
                                                            Vec3<Pack> (&)[FineTet10::nodes]))
DIFFSIM_COMPILED_ELSEWHERE(Pack largest_eigenvalue<FineTet10>(const CellGeometry<FineTet10>&, int,
                                                              const Pack (&)[9][9]))
DIFFSIM_COMPILED_ELSEWHERE(Mat3<Pack> called_gradient<FineTet10>(const Vec3<Pack> (&)[FineTet10::nodes],
                                                                 const FineTet10::Rule&, int, const Mat3<Pack>&))
DIFFSIM_COMPILED_ELSEWHERE(void add_called_forces<FineTet10>(const Mat3<Pack>&, const Mat3<Pack>&, const Pack&,
                                                             const FineTet10::Rule&, int,
                                                             Vec3<Pack> (&)[FineTet10::nodes]))

}  // namespace diffsim::elastic
