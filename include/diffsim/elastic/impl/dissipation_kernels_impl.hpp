// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "diffsim/core/impl/point_force.hpp"
#include "diffsim/elastic/impl/element_blocks_impl.hpp"
#include "diffsim/elastic/impl/second_derivatives_impl.hpp"

// Kernels of `DissipationTerm`. Notation at a quadrature point with rest volume V: F is the deformation gradient, Ḟ its
// rate, Ė = sym(FᵀḞ) the Green strain rate, S(Ė) the second Piola stress of the viscous law, and C = ∂S/∂Ė. X are the
// rest positions. For a vector w at the vertices, G = ∂w/∂X, E_G = sym(FᵀG) and S_G = C : E_G. The nodal forces f are
// the forces of the first Piola stress F S, so w · f = -Σ V S : E_G, summed over the points. The contributions of a
// point to the derivatives of w · f are
//
//   with respect to Ḟ: -V F S_G,   with respect to F: -V (Ḟ S_G + G S),   with respect to G: -V F S.

namespace diffsim::elastic {

/// Returns the dual numbers with the given values and derivatives, one dual number per SIMD lane.
DIFFSIM_FUNCTION PackDual dual(const Pack& value, const Pack& derivative) {
  PackDual a;
  a.value = value;
  a.derivative[0] = derivative;
  return a;
}
/// Returns the matrix of dual numbers with the given values and derivatives.
DIFFSIM_FUNCTION Mat3<PackDual> dual(const Mat3<Pack>& value, const Mat3<Pack>& derivative) {
  return Mat3<PackDual>::from_entries([&](int i, int j)
                                          DIFFSIM_INLINED { return dual(value(i, j), derivative(i, j)); });
}
/// Returns the values of a matrix of dual numbers.
DIFFSIM_FUNCTION Mat3<Pack> value_of(const Mat3<PackDual>& a) {
  return Mat3<Pack>::from_entries([&](int i, int j) DIFFSIM_INLINED { return a(i, j).value; });
}

/// Returns the part of a scalar that a kernel adds to its result: the value itself for a Pack, the derivative for a
/// PackDual.
DIFFSIM_FUNCTION Pack result_of(const Pack& a) { return a; }
DIFFSIM_FUNCTION Pack result_of(const PackDual& a) { return a.derivative[0]; }
template <class T>
DIFFSIM_FUNCTION Mat3<Pack> result_of(const Mat3<T>& a) {
  return Mat3<Pack>::from_entries([&](int i, int j) DIFFSIM_INLINED { return result_of(a(i, j)); });
}

/// Device addresses of the K parameters of a law, or of the derivatives of the parameters along a direction. Each
/// parameter is an array [cells]. A parameter whose address is nullptr has the value 0 in all cells.
template <int K>
struct CellNumbers {
  const double* of[K];
  int num_cells;

  /// Returns the values of parameter k in the cells of a pack, one cell per SIMD lane, and 0 in the padding lanes of
  /// the last pack.
  DIFFSIM_FUNCTION Pack at(int pack, int k) const { return gather_cells(of[k], pack, num_cells); }
};

/// Values of a field at the nodes of the cells of a pack, one cell per SIMD lane. If the scalar type T is PackDual,
/// NodeValues also contains the derivatives of the values along a direction, which are 0 if the constructor's argument
/// `has_direction` is false.
template <class E, class T>
struct NodeValues {
  static constexpr bool moves = std::is_same_v<T, PackDual>;
  Vec3<Pack> value[E::nodes], derivative[moves ? E::nodes : 1];
  bool is_constant;

  DIFFSIM_FUNCTION NodeValues(const int* vertices, const double* field, const double* direction,
                              bool has_direction = true)
      : is_constant(!has_direction) {
    gather_nodes(vertices, field, value);
    if constexpr (moves)
      if (has_direction) gather_nodes(vertices, direction, derivative);
  }
  /// Returns the gradient of the field with respect to the rest positions X at quadrature point q. `inverse`: (∂X/∂ξ)⁻¹
  /// at point q, with the reference coordinates ξ of the cell.
  DIFFSIM_FUNCTION Mat3<T> gradient(const typename E::Rule& rule, int q, const Mat3<Pack>& inverse) const {
    const Mat3<Pack> a = gradient_at<E>(value, rule, q, inverse);
    if constexpr (!moves) {
      return a;
    } else {
      const Mat3<Pack> da = is_constant ? Mat3<Pack>::zero() : gradient_at<E>(derivative, rule, q, inverse);
      return dual(a, da);
    }
  }
};

/// Returns sym(Aᵀ B) = ½ (Aᵀ B + Bᵀ A).
template <class T>
DIFFSIM_FUNCTION Mat3<T> symmetric_product(const Mat3<T>& A, const Mat3<T>& B) {
  const Mat3<T> C = transpose(A) * B;
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED { return 0.5 * (C(i, j) + C(j, i)); });
}

/// Returns true if the viscous law L declares, by `L::is_linear`, that its second Piola stress S is linear in the Green
/// strain rate.
template <class L>
constexpr bool is_linear() {
  return requires { requires L::is_linear; };
}

/// Returns ∂S/∂Ė : dE for a change dE of the Green strain rate Ė = `rate`, where S is the second Piola stress of the
/// viscous law L. `p`: parameters of the law.
template <class L, class T, int K>
DIFFSIM_FUNCTION Mat3<T> damping_of(const Mat3<T>& rate, const Mat3<T>& dE, const T (&p)[K]) {
  if constexpr (is_linear<L>())
    return stress_of<L>(dE, p);
  else
    return stress_tangent_of<L>(rate, dE, p);
}

/// Computes out_k = ∂S/∂p_k : dE for a given matrix dE and each parameter p_k of the viscous law L, where S is the
/// law's second Piola stress at the Green strain rate `rate`.
template <class L, class T, int K>
DIFFSIM_FUNCTION void power_by_parameters(const Mat3<T>& rate, const Mat3<T>& dE, const T (&p)[K], T (&out)[K]) {
  if constexpr (requires { L::stress(rate, p); }) {
    using Scalar = PointGradient<T>;  // derivative k is with respect to parameter k
    static_assert(K <= 9);
    Mat3<Scalar> constant;
    Scalar variable[K];
    point::repeat<9>([&](int i) DIFFSIM_INLINED { constant(i / 3, i % 3).set_constant(rate(i / 3, i % 3)); });
    point::repeat<K>([&](int k) DIFFSIM_INLINED { variable[k].set_variable(p[k], k); });
    const Mat3<Scalar> S = L::stress(constant, variable);
    point::repeat<K>([&](int k) DIFFSIM_INLINED {
      out[k] = T(0.0);
      point::repeat<9>([&](int i) DIFFSIM_INLINED {
        if (S(i / 3, i % 3).has(k)) out[k] += S(i / 3, i % 3).derivative[k] * dE(i / 3, i % 3);
      });
    });
  } else {
    stress_moduli_of<L>(rate, dE, p, out);
  }
}

/// Geometry of the cells of a force term, and parameters of the viscous law L in these cells. The scalar type T is Pack
/// or PackDual; for PackDual, DissipativeCells also contains the derivatives of the parameters along a direction.
template <class L, class E, class T>
struct DissipativeCells {
  static constexpr int K = L::num_moduli;
  CellGeometry<E> geometry;
  CellNumbers<K> parameters, direction;

  /// Sets p to the parameters of the viscous law in the cells of a pack, one cell per SIMD lane.
  DIFFSIM_FUNCTION void parameters_at(int pack, T (&p)[K]) const {
    for (int k = 0; k < K; ++k)
      if constexpr (std::is_same_v<T, Pack>)
        p[k] = parameters.at(pack, k);
      else
        p[k] = dual(parameters.at(pack, k), direction.at(pack, k));
  }
};

/// Kernel that computes the nodal forces of each cell from the first Piola stress P = F S at the quadrature points,
/// where F is the deformation gradient and S is the second Piola stress of the viscous law L.
template <class L, class E>
struct DissipationForce {
  DissipativeCells<L, E, Pack> cells;
  const double *x, *v;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    const NodeValues<E, Pack> positions(vertices, x, nullptr), velocities(vertices, v, nullptr);
    const auto& rule = cells.geometry.rule;
    Pack p[L::num_moduli];
    cells.parameters_at(pack, p);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = cells.geometry.at(pack, q);
      const Mat3<Pack> F = positions.gradient(rule, q, inverse), rate = velocities.gradient(rule, q, inverse);
      add_node_forces<E>(F * stress_of<L>(symmetric_product(F, rate), p), inverse, volume, rule, q, value);
    }
  }
};

/// Kernel that computes the derivative of the nodal forces along a direction: dx of the positions, dv of the
/// velocities, a direction of the parameters, and dX of the rest positions X. With W = ∂dX/∂X, the derivatives along dX
/// of the deformation gradient F and of its rate Ḟ are -F W and -Ḟ W. At a fixed first Piola stress P, the derivatives
/// of the nodal forces along dX are the nodal forces of the stress (tr W) P - P Wᵀ.
template <class L, class E>
struct DissipationTangent {
  DissipativeCells<L, E, PackDual> cells;
  const double *x, *v, *dx, *dv;
  const double* dX;  // direction of the rest shape, or nullptr

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    const NodeValues<E, PackDual> positions(vertices, x, dx), velocities(vertices, v, dv);
    Vec3<Pack> d_rest[E::nodes];
    if (dX) gather_nodes(vertices, dX, d_rest);
    const auto& rule = cells.geometry.rule;
    PackDual p[L::num_moduli];
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = cells.geometry.at(pack, q);
      Mat3<PackDual> F = positions.gradient(rule, q, inverse), rate = velocities.gradient(rule, q, inverse);
      Mat3<Pack> W = Mat3<Pack>::zero();
      if (dX) {
        W = shape_change<E>(d_rest, rule, q, inverse);
        F = dual(value_of(F), result_of(F) - value_of(F) * W);
        rate = dual(value_of(rate), result_of(rate) - value_of(rate) * W);
      }
      const Mat3<PackDual> strain_rate = symmetric_product(F, rate);
      if (q == 0) cells.parameters_at(pack, p);  // inside the loop to reduce register pressure
      const Mat3<PackDual> stress = F * stress_of<L>(strain_rate, p);
      Mat3<Pack> dP = result_of(stress);
      if (dX) dP = dP + (trace(W) * value_of(stress) - times_transpose(value_of(stress), W));
      add_node_forces<E>(dP, inverse, volume, rule, q, value);
    }
  }
};

/// Kernel that computes derivatives of w · f, where f are the nodal forces and w is a vector at the vertices: with
/// respect to the velocities v if the flag `to_velocities` is true, otherwise with respect to the positions x, the
/// parameters p and the rest positions X. If the scalar type T is PackDual, the kernel computes instead the derivatives
/// of these derivatives along directions of x, v, w and p. Second derivatives with respect to X are not available.
template <class L, class E, class T>
struct DissipationAdjoint {
  static constexpr int K = L::num_moduli;
  DissipativeCells<L, E, T> cells;
  const double *x, *v, *w;
  const double *dx = nullptr, *dv = nullptr, *dw = nullptr;
  bool to_velocities = true;           // true: derivatives with respect to v; false: with respect to x, p and X
  double* parameter_gradient[K] = {};  // [cells], used if `to_velocities` is false; nullptr: not requested
  double* shape_sums = nullptr;  // [packs, points, 9, pack_width], see `add_shape_derivative`; nullptr: not requested

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, Vec3<Pack> (&value)[E::nodes]) const {
    const NodeValues<E, T> positions(vertices, x, dx), velocities(vertices, v, dv),
        adjoints(vertices, w, dw, dw != nullptr);
    const auto& rule = cells.geometry.rule;
    T p[K];
    cells.parameters_at(pack, p);
    for (int q = 0; q < E::Rule::num_points; ++q) {
      const auto [inverse, volume] = cells.geometry.at(pack, q);
      const Mat3<T> F = positions.gradient(rule, q, inverse), G = adjoints.gradient(rule, q, inverse);
      const bool needs_rate = !(to_velocities && is_linear<L>());
      const Mat3<T> rate = needs_rate ? velocities.gradient(rule, q, inverse) : Mat3<T>::zero();
      const Mat3<T> strain_rate = symmetric_product(F, rate), E_G = symmetric_product(F, G);
      const Mat3<T> S_G = damping_of<L>(strain_rate, E_G, p);
      const Mat3<T> by_rate = F * S_G;
      if (to_velocities) {
        add_node_forces<E>(result_of(by_rate), inverse, volume, rule, q, value);
        continue;
      }
      const Mat3<T> S = stress_of<L>(strain_rate, p);
      const Mat3<T> by_F = rate * S_G + G * S;
      add_node_forces<E>(result_of(by_F), inverse, volume, rule, q, value);
      add_parameter_gradient(pack, volume, strain_rate, E_G, p);
      if constexpr (std::is_same_v<T, Pack>) {
        if (!shape_sums) continue;
        Mat3<Pack> Z = transpose(F) * by_F + transpose(rate) * by_rate + transpose(G) * (F * S);
        const Pack power = inner(S, E_G);
        for (int i = 0; i < 3; ++i) Z(i, i) -= power;
        add_shape_derivative(Z, volume, inverse, cells.geometry.row(pack, q), shape_sums);
      }
    }
  }

  /// Adds -V ∂S/∂p_k : E_G to the gradient with respect to each parameter p_k whose gradient is requested, where V is
  /// `volume`, S is the second Piola stress, and E_G = sym(Fᵀ ∂w/∂X) with the deformation gradient F.
  KOKKOS_INLINE_FUNCTION void add_parameter_gradient(int pack, const Pack& volume, const Mat3<T>& strain_rate,
                                                     const Mat3<T>& E_G, const T (&p)[K]) const {
    T power[K];
    power_by_parameters<L>(strain_rate, E_G, p, power);
    for (int k = 0; k < K; ++k)
      if (parameter_gradient[k])
        add_to_cells(-volume * result_of(power[k]), pack, cells.parameters.num_cells, parameter_gradient[k]);
  }
};

/// Kernel that adds the blocks of a ∂f/∂x + b ∂f/∂v to a matrix, with the factors a = `by_position` and b =
/// `by_velocity`, where f are the nodal forces at positions x and velocities v. If the flag `project` is true, the
/// kernel adds only b ∂f/∂v. The blocks are computed from the columns of ∂P/∂F and ∂P/∂Ḟ, with the deformation gradient
/// F, its rate Ḟ and the first Piola stress P. The damping matrix -∂f/∂v is symmetric, and is positive semidefinite if
/// the dissipation potential of the law is convex.
template <class L, class E>
struct DissipationJacobian {
  DissipativeCells<L, E, Pack> cells;
  const double *x, *v;
  double by_position, by_velocity;
  bool project;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, const BlockSink& sink) const {
    const NodeValues<E, Pack> positions(vertices, x, nullptr), velocities(vertices, v, nullptr);
    for (int first = 0; first < E::Rule::num_points; first += E::points_at_once)
      add_points(pack, first, positions, velocities, sink);
  }

  /// Adds the contributions of `num_points_from(first)` quadrature points, beginning with point `first`, to the matrix
  /// blocks of the cells of a pack.
  KOKKOS_INLINE_FUNCTION void add_points(int pack, int first, const NodeValues<E, Pack>& positions,
                                         const NodeValues<E, Pack>& velocities, const BlockSink& sink) const {
    Vec3<Pack> g[E::points_at_once][E::nodes];
    Pack H[E::points_at_once][9][9];
    Pack p[L::num_moduli];
    cells.parameters_at(pack, p);
    const auto& rule = cells.geometry.rule;
    const int count = num_points_from<E>(first);
    for (int i = 0; i < count; ++i) {
      const auto [inverse, volume] = cells.geometry.at(pack, first + i);
      const Mat3<Pack> F = positions.gradient(rule, first + i, inverse);
      const Mat3<Pack> rate = velocities.gradient(rule, first + i, inverse);
      const Mat3<Pack> strain_rate = symmetric_product(F, rate), S = stress_of<L>(strain_rate, p);
      for (int k = 0; k < 9; ++k) {
        Mat3<Pack> unit = Mat3<Pack>::zero();
        unit(k / 3, k % 3) = 1.0;
        Mat3<Pack> dP = Pack(by_velocity) * (F * damping_of<L>(strain_rate, symmetric_product(F, unit), p));
        if (!project)
          dP = dP + Pack(by_position) * (unit * S + F * damping_of<L>(strain_rate, symmetric_product(unit, rate), p));
        for (int r = 0; r < 9; ++r) H[i][r][k] = -(volume * dP(r / 3, r % 3));
      }
      shape_gradients<E>(rule, first + i, inverse, g[i]);
    }
    add_element_blocks<E, false>(H, g, count, sink);
  }
};

/// Kernel that estimates, by `largest_eigenvalue`, the largest eigenvalue of each cell's damping matrix -∂f/∂v at v = 0
/// in the rest shape, where f are the nodal forces and v the velocities.
template <class L, class E>
struct DampingBound {
  DissipativeCells<L, E, Pack> cells;
  DeviceArray<double> eigenvalues;  // [packs, pack_width]

  KOKKOS_INLINE_FUNCTION void operator()(int pack) const {
    Pack H[9][9], p[L::num_moduli];
    cells.parameters_at(pack, p);
    for (int k = 0; k < 9; ++k) {
      Mat3<Pack> unit = Mat3<Pack>::zero();
      unit(k / 3, k % 3) = 1.0;
      const Mat3<Pack> stress = damping_of<L>(Mat3<Pack>::zero(), symmetric_product(Mat3<Pack>::identity(), unit), p);
      for (int i = 0; i < 9; ++i) H[i][k] = stress(i / 3, i % 3);
    }
    store(&eigenvalues(pack_width * pack), largest_eigenvalue<E>(cells.geometry, pack, H));
  }
};

}  // namespace diffsim::elastic
