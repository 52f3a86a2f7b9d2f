// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/point_force.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"
#include "diffsim/core/impl/semidefinite.hpp"

// Kernels of PointTerm. A point is a local vertex on which a force acts. Each thread processes one point. A point is
// active unless the function `active` of the force returns false; energy, force and derivatives of inactive points are
// zero.

namespace diffsim::point {

/// Device addresses of arrays for all inputs of the forces on points: positions x, velocities v, weights and parameter
/// values p. The arrays of an Addresses object contain the inputs, or derivatives of the inputs along a direction, or
/// derivatives of a scalar with respect to the inputs.
template <int P, class Number>
struct Addresses {
  Number* x = nullptr;  ///< [local vertices, 3]
  Number* v = nullptr;  ///< [local vertices, 3]
  Number* weight = nullptr;
  int weight_stride = 1;  ///< the weight of point i is weight[weight_stride · i]
  ParameterNumbers<P, Number> p = {};
};

/// Arguments of a kernel: the points, the force law, and the inputs of the force law at all points.
template <class F>
struct Sweep {
  F force;
  int count;                  // number of points
  DeviceArray<int> vertices;  // vertex of each point; empty: point i is vertex i
  Addresses<F::num_values, const double> at;
  double time;

  Range all() const { return Range(0, count); }
  DIFFSIM_FUNCTION int vertex(int i) const { return vertices.size() > 0 ? vertices(i) : i; }
};

/// Direction in the space of all inputs of the force: positions, velocities, weights, parameter values and time.
template <class F>
struct Direction {
  Addresses<F::num_values, const double> along;
  double time;
};

/// Returns the inputs of the force on point i, which is the local vertex `vertex`. If the address `from.weight` is
/// nullptr, the weight of the point is the argument `weight`.
template <int P>
DIFFSIM_FUNCTION PointValues<double, P> read(const Addresses<P, const double>& from, int i, int vertex, double time,
                                             double weight) {
  PointValues<double, P> at;
  for (int c = 0; c < 3; ++c) {
    at.x[c] = from.x[3 * static_cast<std::ptrdiff_t>(vertex) + c];
    at.v[c] = from.v ? from.v[3 * static_cast<std::ptrdiff_t>(vertex) + c] : 0.0;
  }
  for (int k = 0; k < P; ++k) at.p[k] = from.p.value(k, vertex);
  at.weight = from.weight ? from.weight[from.weight_stride * static_cast<std::ptrdiff_t>(i)] : weight;
  at.time = time;
  return at;
}
template <class F>
DIFFSIM_FUNCTION Values<F> read(const Sweep<F>& sweep, int i) {
  return read<F::num_values>(sweep.at, i, sweep.vertex(i), sweep.time, 1.0);
}
template <class F>
DIFFSIM_FUNCTION Values<F> read(const Direction<F>& direction, int i, int vertex) {
  return read<F::num_values>(direction.along, i, vertex, direction.time, 0.0);
}

/// Adds the derivatives of a scalar with respect to all inputs of the force on point i to the arrays that `to`
/// addresses; `by(k)` is the scalar's derivative with respect to input k in the numbering of Inputs. `add_derivatives`
/// adds the derivatives with respect to the parameter values p both to `sums` and to the arrays that `to` addresses.
/// For a parameter with one value for all points, the address in `to` is nullptr; the caller of `add_derivatives` adds
/// the derivative in `sums`, summed over all points, to the gradient.
template <class F, class By>
DIFFSIM_FUNCTION void add_derivatives(const Addresses<F::num_values, double>& to, int i, int vertex, const By& by,
                                      Sums<F::num_values>& sums) {
  using Of = Inputs<F>;
  const std::ptrdiff_t place = 3 * static_cast<std::ptrdiff_t>(vertex);
  for (int c = 0; c < Of::positions; ++c) to.x[place + c] += by(c);
  if (to.v)
    for (int c = 0; c < Of::velocities; ++c) to.v[place + c] += by(Of::positions + c);
  for (int k = 0; k < F::num_values; ++k) sums.of[k] += by(Of::first_value + k);
  repeat<F::num_values>([&](int k) DIFFSIM_INLINED {
    if (to.p.of[k]) to.p.at(k, vertex) += to.p.factor[k] * by(Of::first_value + k);
  });
  if (to.weight) to.weight[to.weight_stride * static_cast<std::ptrdiff_t>(i)] += by(Of::weight);
}

/// Returns the sum of `value(force, at)`, with the inputs `at` of the force on a point, over all points for which
/// `F::active` returns true, or over all points if the force's type F has no function `active`.
template <class F, class Value>
double sum_over(const char* label, const Sweep<F>& sweep, const Value& value) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      label, sweep.all(),
      KOKKOS_LAMBDA(int i, double& s) {
        const Values<F> at = read(sweep, i);
        if (is_active(sweep.force, at)) s += value(sweep.force, at);
      },
      sum);
  return sum;
}

/// Functor that returns the energy E (J) of a force on one point, or 0 if the force's type F defines no energy.
struct Energy {
  template <class F>
  DIFFSIM_FUNCTION double operator()(const F& force, const Values<F>& at) const {
    return energy_of(force, at);
  }
};

/// Adds the forces on all active points to the array `f`, [local vertices, 3]. A point is active if `F::active` returns
/// true or is not defined.
template <class F>
void add_forces(const Sweep<F>& sweep, double* f) {
  Kokkos::parallel_for(
      "diffsim::core::point_force", sweep.all(), KOKKOS_LAMBDA(int i) {
        const Values<F> at = read(sweep, i);
        if (!is_active(sweep.force, at)) return;
        const Vec3<double> force = force_of(sweep.force, at);
        for (int c = 0; c < 3; ++c) f[3 * static_cast<std::ptrdiff_t>(sweep.vertex(i)) + c] += force[c];
      });
  Kokkos::fence();
}

/// Adds the derivative df = Σ_k ∂f/∂q_k dq_k of the force f on each active point to the array `df`, [local vertices,
/// 3], where q_k are all inputs of the force, and dq_k are the components of `direction`. A point is active if
/// `F::active` returns true or is not defined.
template <class F>
void add_tangents(const Sweep<F>& sweep, const Direction<F>& direction, double* df) {
  Kokkos::parallel_for(
      "diffsim::core::point_tangent", sweep.all(), KOKKOS_LAMBDA(int i) {
        const Values<F> at = read(sweep, i);
        if (!is_active(sweep.force, at)) return;
        const int vertex = sweep.vertex(i);
        const auto force = force_of(sweep.force, combined(at, read(direction, i, vertex), Along()));
        for (int c = 0; c < 3; ++c) df[3 * static_cast<std::ptrdiff_t>(vertex) + c] += force[c].derivative[0];
      });
  Kokkos::fence();
}

/// Adds the derivatives of Σ_i w_i·f_i with respect to all inputs of the force to the arrays that `to` addresses, where
/// f_i is the force on the active point i, and w_i is the vector in `w`, [local vertices, 3], at the vertex of point i.
/// Returns the derivatives of w_i·f_i with respect to the parameter values p of point i, summed over all active points.
template <class F>
Sums<F::num_values> add_adjoints(const Sweep<F>& sweep, const double* w, const Addresses<F::num_values, double>& to) {
  Sums<F::num_values> sums;
  Kokkos::parallel_reduce(
      "diffsim::core::point_adjoint", sweep.all(),
      KOKKOS_LAMBDA(int i, Sums<F::num_values>& s) {
        const Values<F> at = read(sweep, i);
        if (!is_active(sweep.force, at)) return;
        const auto force = force_of(sweep.force, combined(at, Varied<Inputs<F>::count, InputAt<F>>()));
        const int vertex = sweep.vertex(i);
        const double* const by_force = w + 3 * static_cast<std::ptrdiff_t>(vertex);
        const auto product = by_force[0] * force[0] + by_force[1] * force[1] + by_force[2] * force[2];
        add_derivatives<F>(
            to, i, vertex, [&](int k) DIFFSIM_INLINED { return product.derivative[k]; }, s);
      },
      sums);
  return sums;
}

/// Computes the derivative, along a direction, of each value that `add_adjoints` computes, and adds this derivative to
/// the corresponding array that `to` addresses. Along the direction of differentiation, the inputs of the force change
/// by `direction`, and the array `w` changes by `dw`. Returns the directional derivatives of the sums that
/// `add_adjoints` returns. A null pointer `w` or `dw` stands for an array of zeros.
template <class F>
Sums<F::num_values> add_adjoint_tangents(const Sweep<F>& sweep, const Direction<F>& direction, const double* w,
                                         const double* dw, const Addresses<F::num_values, double>& to) {
  Sums<F::num_values> sums;
  Kokkos::parallel_reduce(
      "diffsim::core::point_adjoint_tangent", sweep.all(),
      KOKKOS_LAMBDA(int i, Sums<F::num_values>& s) {
        using Scalar = Dual<Dual<double, 1>, Inputs<F>::count>;
        const Values<F> at = read(sweep, i);
        if (!is_active(sweep.force, at)) return;
        const int vertex = sweep.vertex(i);
        const Vec3<Scalar> force = force_of(
            sweep.force, combined(at, read(direction, i, vertex), VariedAlong<Inputs<F>::count, InputAt<F>>()));
        Scalar product(0.0);
        for (int c = 0; c < 3; ++c) {
          const std::ptrdiff_t place = 3 * static_cast<std::ptrdiff_t>(vertex) + c;
          product = product + Scalar::constant(along(w ? w[place] : 0.0, dw ? dw[place] : 0.0)) * force[c];
        }
        add_derivatives<F>(
            to, i, vertex, [&](int k) DIFFSIM_INLINED { return product.derivative[k].derivative[0]; }, s);
      },
      sums);
  return sums;
}

/// Computes the 3×3 block a ∂f/∂x + b ∂f/∂v of the force f on one point with position x and velocity v, where a is
/// `weights.position` and b is `weights.velocity`. If `weights.project` is true and F has a function `projected`, ∂f/∂x
/// in the block is the derivative of the force law `F::projected()`, for which -∂f/∂x is positive semidefinite. If
/// `weights.project` is true and F has no function `projected`, the block is replaced by the symmetric part of the
/// block, in which negative eigenvalues are set to zero.
template <class F>
DIFFSIM_FUNCTION void jacobian_of(const F& force, const Values<F>& at, const JacobianWeights& weights,
                                  double (&block)[3][3]) {
  const auto seeded = combined(at, Varied<6>());
  const F smooth = weights.project ? projected_of(force) : force;
  const auto by_position = force_of(smooth, seeded), by_velocity = force_of(force, seeded);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      block[r][c] =
          weights.position * by_position[r].derivative[c] + weights.velocity * by_velocity[r].derivative[3 + c];
  if (!weights.project || HasProjected<F>) return;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < r; ++c) block[r][c] = block[c][r] = 0.5 * (block[r][c] + block[c][r]);
  make_semidefinite(block);
}

/// Adds the 3×3 block that `jacobian_of` computes for each active point to the diagonal block of the point's vertex in
/// `matrix`. A point is active if `F::active` returns true or is not defined.
template <class F>
void add_jacobians(const Sweep<F>& sweep, const JacobianWeights& weights, const BlockMatrix::Data& matrix) {
  const DeviceArray<int> diagonal = matrix.diagonal;
  const DeviceArray<double> values = matrix.values;
  Kokkos::parallel_for(
      "diffsim::core::point_jacobian", sweep.all(), KOKKOS_LAMBDA(int i) {
        const Values<F> at = read(sweep, i);
        if (!is_active(sweep.force, at)) return;
        double block[3][3];
        jacobian_of(sweep.force, at, weights, block);
        double* const to = values.data() + 9 * static_cast<std::ptrdiff_t>(diagonal(sweep.vertex(i)));
        for (int k = 0; k < 9; ++k) to[k] += block[k / 3][k % 3];
      });
  Kokkos::fence();
}

}  // namespace diffsim::point
