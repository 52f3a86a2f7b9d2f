// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"
#include "diffsim/core/impl/semidefinite.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

// Kernels of forces on stencils. Each thread processes one stencil, or one pack of stencils. A stencil is inactive if
// the function `active` of the force returns false; energy, forces and derivatives of inactive stencils are zero. On a
// GPU, `set_vectors` and `set_derivatives` write one row of nodal vectors per stencil, and `add_vectors` then sums the
// vectors at each vertex in the order of the stencils, with one vertex per thread.

namespace diffsim::stencil {

/// Device addresses of all inputs of the forces on stencils (positions x, velocities v, rest positions X and parameter
/// values p), or of the derivatives of the inputs along a direction. A null address in an Addresses object stands for
/// an array of zeros.
template <int P>
struct Addresses {
  const double* x = nullptr;  ///< [local vertices, 3]
  const double* v = nullptr;  ///< [local vertices, 3]
  const double* X = nullptr;  ///< [local vertices, 3]
  point::ParameterNumbers<P, const double> p = {};
  double time = 0.0;
};

/// Returns the index of the entity that has the parameter values of stencil i: entities[i], or i if `entities` is
/// empty.
DIFFSIM_FUNCTION int entity_of(const DeviceArray<int>& entities, int i) {
  return entities.size() > 0 ? entities(i) : i;
}

/// Arguments of a kernel: the stencils, the force law, and the inputs of the force law.
template <class F>
struct Sweep {
  F force;
  int count;                  // number of stencils
  DeviceArray<int> vertices;  // [count, num_nodes]
  DeviceArray<int> entities;  // [count], or empty
  Addresses<F::num_values> at;

  /// Returns the number of groups of stencils. A group consists of `width` stencils that a kernel processes together;
  /// the last group may have fewer stencils.
  DIFFSIM_FUNCTION int num_groups() const { return (count + width<F> - 1) / width<F>; }
  /// Returns the number of stencils in the group with index `group`.
  DIFFSIM_FUNCTION int num_of_group(int group) const {
    const int left = count - width<F> * group;
    return left < width<F> ? left : width<F>;
  }
  /// Returns the index of the stencil in a SIMD lane of a group of stencils. For lanes beyond the last stencil, returns
  /// the index of the last stencil.
  DIFFSIM_FUNCTION int stencil(int group, int in_lane) const {
    const int i = width<F> * group + in_lane;
    return i < count ? i : count - 1;
  }
};

/// Sets `value` to the vectors of `field` at the nodes of a group's stencils, or to zeros if `field` is nullptr.
template <class F>
DIFFSIM_FUNCTION void read_nodes(const Sweep<F>& sweep, int group, const double* field,
                                 Vec3<Number<F>> (&value)[F::num_nodes]) {
  constexpr int n = F::num_nodes;
  for (int k = 0; k < 3 * n; ++k) value[k / 3][k % 3] = 0.0;
  if (!field) return;
  if constexpr (takes_packs<F>()) {
    if (sweep.num_of_group(group) == pack_width) {
      const int* const first = &sweep.vertices(n * pack_width * group);
      for (int a = 0; a < n; ++a) gather_vectors<n>(field, first + a, value[a].v);
      return;
    }
  }
  for (int l = 0; l < width<F>; ++l) {
    const int i = sweep.stencil(group, l);
    for (int a = 0; a < n; ++a) {
      const std::ptrdiff_t place = 3 * static_cast<std::ptrdiff_t>(sweep.vertices(n * i + a));
      for (int c = 0; c < 3; ++c) set_lane(value[a][c], l, field[place + c]);
    }
  }
}
/// Returns the values at the addresses `from` for a group of stencils. The argument `from` contains the addresses of
/// the inputs of the force, or of derivatives of the inputs along a direction.
template <class F>
DIFFSIM_FUNCTION Values<F, Number<F>> read(const Sweep<F>& sweep, const Addresses<F::num_values>& from, int group) {
  Values<F, Number<F>> at;
  read_nodes(sweep, group, from.x, at.x);
  read_nodes(sweep, group, from.v, at.v);
  read_nodes(sweep, group, from.X, at.X);
  for (int k = 0; k < F::num_values; ++k) at.p[k] = 0.0;
  for (int l = 0; l < width<F>; ++l) {
    const int entity = entity_of(sweep.entities, sweep.stencil(group, l));
    for (int k = 0; k < F::num_values; ++k) set_lane(at.p[k], l, from.p.value(k, entity));
  }
  at.time = from.time;
  return at;
}

/// Sets row i of `vectors`, [count, num_nodes, 3], to the vectors that the callback `each` computes at the nodes of
/// stencil i, for each stencil i. The call `each(sweep, group, values, row)` computes the rows of `vectors` for a group
/// of active stencils. The rows of inactive stencils in `vectors` are set to zero.
template <class F, class Each>
void set_vectors(const char* label, const Sweep<F>& sweep, double* vectors, const Each& each) {
  Kokkos::parallel_for(
      label, Range(0, sweep.num_groups()), KOKKOS_LAMBDA(int group) {
        constexpr int length = 3 * F::num_nodes;
        const Values<F, Number<F>> at = read(sweep, sweep.at, group);
        Number<F> row[length];
        if (is_active(sweep.force, at))
          each(sweep, group, at, row);
        else
          for (int k = 0; k < length; ++k) row[k] = 0.0;
        for (int l = 0; l < sweep.num_of_group(group); ++l) {
          double* const of = vectors + static_cast<std::ptrdiff_t>(length) * sweep.stencil(group, l);
          for (int k = 0; k < length; ++k) of[k] = lane(row[k], l);
        }
      });
}

/// Stores derivatives with respect to the parameter values p of stencil i. Lane `in_lane` of `row[k]` contains the
/// derivative with respect to the parameter value p[k]. If the array `numbers`, [count, num_values], is not nullptr,
/// the derivatives are written to the stencil's row in `numbers`; otherwise the derivatives are added to the values of
/// the stencil's entity in `to`. Derivatives with respect to parameters for which the address in `to` is nullptr are
/// added to `sums`.
template <class F, class T>
DIFFSIM_FUNCTION void put_numbers(const Sweep<F>& sweep, int i, const T* row, int in_lane,
                                  const point::ParameterNumbers<F::num_values, double>& to, double* numbers,
                                  point::Sums<F::num_values>& sums) {
  const int entity = entity_of(sweep.entities, i);
  repeat<F::num_values>([&](int k) DIFFSIM_INLINED {
    const double derivative = lane(row[k], in_lane);
    if (numbers)
      numbers[F::num_values * static_cast<std::ptrdiff_t>(i) + k] = derivative;
    else if (to.of[k])
      to.at(k, entity) += to.factor[k] * derivative;
    if (!to.of[k]) sums.of[k] += derivative;
  });
}

/// Arrays for the derivatives with respect to the positions x, velocities v and rest positions X of the nodes of all
/// stencils, [count, num_nodes, 3] each. A member of VectorDerivatives is nullptr if the member's derivatives are not
/// requested.
struct VectorDerivatives {
  double* x;
  double* v;
  double* X;
};

/// Calls `each(sweep, group, values, row)` for every group of active stencils; each call sets `row` to the derivatives
/// of a scalar with respect to all inputs of the force, in the order of the class Inputs. Stores the derivatives with
/// respect to positions x, velocities v and rest positions X of the nodes in `vectors`. Derivatives with respect to
/// inputs of inactive stencils are zero. The function `put_numbers` stores the derivatives with respect to the
/// parameter values p. Returns the sums, over all stencils, of derivatives with respect to parameters that have one
/// value for all stencils.
template <class F, class Each>
point::Sums<F::num_values> set_derivatives(const char* label, const Sweep<F>& sweep, const Each& each,
                                           const VectorDerivatives& vectors,
                                           const point::ParameterNumbers<F::num_values, double>& to, double* numbers) {
  using Of = Inputs<F>;
  point::Sums<F::num_values> sums;
  Kokkos::parallel_reduce(
      label, Range(0, sweep.num_groups()),
      KOKKOS_LAMBDA(int group, point::Sums<F::num_values>& s) {
        Number<F> row[Of::count];
        repeat<Of::count>([&](int k) DIFFSIM_INLINED { row[k] = 0.0; });
        const Values<F, Number<F>> at = read(sweep, sweep.at, group);
        if (is_active(sweep.force, at)) each(sweep, group, at, row);
        const int num = sweep.num_of_group(group);
        const auto put = [&](double* all, int first) DIFFSIM_INLINED {
          if (!all) return;
          for (int l = 0; l < num; ++l) {
            double* const of = all + static_cast<std::ptrdiff_t>(Of::block) * sweep.stencil(group, l);
            repeat<Of::block>([&](int k) DIFFSIM_INLINED { of[k] = lane(row[first + k], l); });
          }
        };
        put(vectors.x, 0);
        if constexpr (uses_velocities<F>()) put(vectors.v, Of::velocities);
        if constexpr (uses_rest<F>()) put(vectors.X, Of::rest);
        for (int l = 0; l < num; ++l)
          put_numbers(sweep, sweep.stencil(group, l), row + Of::first_value, l, to, numbers, s);
      },
      sums);
  return sums;
}

/// Functor that adds the energies (J) of a group of stencils to `sum`.
template <class F>
struct Energies {
  Sweep<F> sweep;
  DIFFSIM_FUNCTION void operator()(int group, double& sum) const {
    const Values<F, Number<F>> at = read(sweep, sweep.at, group);
    if (!is_active(sweep.force, at)) return;
    const Number<F> energy = energy_of(sweep.force, at);
    for (int l = 0; l < sweep.num_of_group(group); ++l) sum += lane(energy, l);
  }
};

/// Functor that computes the forces on the nodes of a group of stencils.
struct Forces {
  template <class F>
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int, const Values<F, Number<F>>& at, Number<F>* row) const {
    Vectors<F, Number<F>> f;
    forces_of(sweep.force, at, f);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = f[k / 3][k % 3];
  }
};

/// Functor that computes the derivatives df_a = ∂f_a/∂q dq of the forces f_a on the nodes a, where q are all inputs of
/// the force and dq is the member `direction`.
template <class F>
struct Tangents {
  Addresses<F::num_values> direction;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int group, const Values<F, Number<F>>& at,
                                   Number<F>* row) const {
    Vectors<F, Dual<Number<F>, 1>> f;
    forces_of(sweep.force, combined(at, read(sweep, direction, group), point::Along()), f);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = f[k / 3][k % 3].derivative[0];
  }
};

/// Number of inputs with respect to which derivatives of the work of nodal forces are computed at once: the number of
/// doubles in an AVX-512 register.
inline constexpr int at_once = 8;

/// Computes the derivatives of the work Σ_a w_a·f_a with respect to all inputs of the force F by the derivative
/// formulas of F, where f_a is the force on node a and w_a is a given vector. Calls `put(k, d)` for each input of F,
/// where k is the number of the input in Inputs, and d is the derivative of the work with respect to the input.
/// Derivatives with respect to the rest positions X are left out if `by_rest` is false.
template <bool by_rest, class F, class T, class Put>
DIFFSIM_FUNCTION void put_work_derivatives(const F& f, const Values<F, T>& at, const Vectors<F, T>& w, const Put& put) {
  using Of = Inputs<F>;
  Values<F, T> by;
  work_derivatives_of<by_rest>(f, at, w, by);
  repeat<Of::block>([&](int k) DIFFSIM_INLINED {
    put(k, by.x[k / 3][k % 3]);
    if constexpr (uses_velocities<F>()) put(Of::velocities + k, by.v[k / 3][k % 3]);
    if constexpr (by_rest && uses_rest<F>()) put(Of::rest + k, by.X[k / 3][k % 3]);
  });
  repeat<F::num_values>([&](int k) DIFFSIM_INLINED { put(Of::first_value + k, by.p[k]); });
}

/// Returns true if kernels can omit derivatives with respect to the rest positions X when these derivatives are not
/// requested.
template <class F>
constexpr bool can_leave_out_rest() {
  return uses_rest<F>() && HasFormulas<F>;
}

/// Functor that computes the derivatives of the work Σ_a w_a·f_a with respect to all inputs of the force, where f_a is
/// the force on node a and w_a is the vector of the field `w` at node a. If the force F has formulas for derivatives
/// (HasFormulas), derivatives with respect to the rest positions X are set only if `by_rest` is true.
template <class F, bool by_rest = true>
struct Adjoints {
  const double* w;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int group, const Values<F, Number<F>>& at,
                                   Number<F>* row) const {
    Vectors<F, Number<F>> by_force;
    read_nodes(sweep, group, w, by_force);
    if constexpr (HasFormulas<F>)
      put_work_derivatives<by_rest, F, Number<F>>(sweep.force, at, by_force,
                                                  [&](int k, const Number<F>& d) DIFFSIM_INLINED { row[k] = d; });
    else
      by_directions(sweep, at, by_force, row);
  }

 private:
  DIFFSIM_FUNCTION void by_directions(const Sweep<F>& sweep, const Values<F, Number<F>>& at,
                                      const Vectors<F, Number<F>>& w_at, Number<F>* row) const {
    constexpr int n = Inputs<F>::count;
    using Scalar = Dual<Number<F>, at_once>;
    Vectors<F, Scalar> by_force;
    for (int k = 0; k < 3 * F::num_nodes; ++k) by_force[k / 3][k % 3] = Scalar::constant(w_at[k / 3][k % 3]);
    for (int first = 0; first < n; first += at_once) {
      const Scalar work = work_of(sweep.force, combined(at, Varied<at_once, InputAt<F>>{first}), by_force);
      for (int k = first; k < n && k < first + at_once; ++k) row[k] = work.derivative[k - first];
    }
  }
};

/// Functor that computes the derivatives of the results of `Adjoints` along a direction in which the force's inputs
/// change by `direction` and the field `w` changes by `dw`. A null pointer `w` or `dw` stands for an array of zeros.
template <class F>
struct AdjointTangents {
  using Along = Dual<Number<F>, 1>;

  Addresses<F::num_values> direction;
  const double *w, *dw;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int group, const Values<F, Number<F>>& at,
                                   Number<F>* row) const {
    Vectors<F, Number<F>> value, change;
    read_nodes(sweep, group, w, value);
    read_nodes(sweep, group, dw, change);
    Vectors<F, Along> by_force;
    for (int k = 0; k < 3 * F::num_nodes; ++k)
      by_force[k / 3][k % 3] = along(value[k / 3][k % 3], change[k / 3][k % 3]);
    const Values<F, Number<F>> along_direction = read(sweep, direction, group);
    if constexpr (HasFormulas<F>)
      put_work_derivatives<true, F, Along>(sweep.force, combined(at, along_direction, point::Along()), by_force,
                                           [&](int k, const Along& d) DIFFSIM_INLINED { row[k] = d.derivative[0]; });
    else
      by_directions(sweep, at, along_direction, by_force, row);
  }

 private:
  DIFFSIM_FUNCTION void by_directions(const Sweep<F>& sweep, const Values<F, Number<F>>& at,
                                      const Values<F, Number<F>>& along_direction, const Vectors<F, Along>& w_along,
                                      Number<F>* row) const {
    constexpr int n = Inputs<F>::count;
    using Scalar = Dual<Along, at_once>;
    Vectors<F, Scalar> by_force;
    for (int k = 0; k < 3 * F::num_nodes; ++k) by_force[k / 3][k % 3] = Scalar::constant(w_along[k / 3][k % 3]);
    for (int first = 0; first < n; first += at_once) {
      const Scalar work =
          work_of(sweep.force, combined(at, along_direction, VariedAlong<at_once, InputAt<F>>{{first}}), by_force);
      for (int k = first; k < n && k < first + at_once; ++k) row[k] = work.derivative[k - first].derivative[0];
    }
  }
};

/// Functor that computes the Frobenius norm of the matrix a ∂f/∂x + b ∂f/∂v of a stencil, with a = `by_position` and b
/// = `by_velocity`, where f, x and v are the forces, positions and velocities of the nodes. Each element of `row`,
/// which has three elements per node of the stencil, is set to the norm, an upper bound of the magnitudes of the
/// matrix's eigenvalues.
struct Norms {
  double by_position, by_velocity;

  template <class F>
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int, const Values<F, Number<F>>& at, Number<F>* row) const {
    using std::sqrt;
    constexpr int n = 3 * F::num_nodes;
    Number<F> J[n][n], sum = 0.0;
    jacobian_of(sweep.force, at, by_position, by_velocity, J);
    for (int k = 0; k < n * n; ++k) sum += J[k / n][k % n] * J[k / n][k % n];
    for (int k = 0; k < n; ++k) row[k] = sqrt(sum);
  }
};

/// Replaces the matrix J of each stencil in a group of stencils by the positive semidefinite matrix that is nearest to
/// the symmetric part of J. Lane l of J contains the matrix of stencil l.
template <class T, int n>
DIFFSIM_FUNCTION void project_lanes(T (&J)[n][n], int lanes) {
  for (int l = 0; l < lanes; ++l) {
    double one[n][n];
    for (int r = 0; r < n; ++r)
      for (int c = 0; c <= r; ++c) one[r][c] = one[c][r] = 0.5 * (lane(J[r][c], l) + lane(J[c][r], l));
    if (!is_semidefinite(one)) make_semidefinite(one);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) set_lane(J[r][c], l, one[r][c]);
  }
}

/// Functor that computes the Jacobian blocks of the stencils of a pack and passes the blocks to the BlockSink `sink`.
template <class F>
struct Jacobians {
  Sweep<F> sweep;
  JacobianWeights weights;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, const BlockSink& sink) const {
    Mat3<Pack> blocks[F::num_nodes][F::num_nodes] = {};
    for (int l = 0; l < pack_width; l += width<F>)
      if (pack_width * pack + l < sweep.count) add_group((pack_width * pack + l) / width<F>, l, blocks);
    for (int a = 0; a < F::num_nodes; ++a)
      for (int b = 0; b < F::num_nodes; ++b) sink.add(a, b, blocks[a][b]);
  }

 private:
  /// Sets the lanes of `blocks` that belong to a group of stencils to the stencils' Jacobian blocks. Lane `first` of
  /// each block contains the Jacobian block of the group's first stencil.
  KOKKOS_INLINE_FUNCTION void add_group(int group, int first, Mat3<Pack> (&blocks)[F::num_nodes][F::num_nodes]) const {
    constexpr int n = 3 * F::num_nodes;
    const Values<F, Number<F>> at = read(sweep, sweep.at, group);
    if (!is_active(sweep.force, at)) return;
    const int num = sweep.num_of_group(group);
    Number<F> J[n][n];
    jacobian_of(sweep.force, at, weights.position, weights.velocity, J);
    if (weights.project) project_lanes(J, num);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c)
        for (int l = 0; l < num; ++l) set_lane(blocks[r / 3][c / 3](r % 3, c % 3), first + l, lane(J[r][c], l));
  }
};

/// Indices of the elements of an array of vertex numbers or entity numbers, grouped by number: the indices of all
/// elements with the same number form a group, in ascending order.
struct Grouped {
  DeviceArray<int> value;  // [n]: distinct numbers, ascending
  DeviceArray<int> begin;  // [n + 1]: start of each group in `place`, and the size of `place`
  DeviceArray<int> place;
};

/// Returns the indices of the elements of the array `values`, grouped by value.
Grouped grouped(const std::vector<int>& values);

/// Adds to `y[v]`, for each vertex v, the sum of the vectors in `vectors` at all stencil nodes that are vertex v. The
/// shape of `y` is [local vertices, 3], and the shape of `vectors` is [stencils, num_nodes, 3]. `nodes` contains the
/// nodes of all stencils, grouped by vertex.
void add_vectors(const Grouped& nodes, const double* vectors, double* y);

/// Sums the rows of the array `numbers`, [stencils, P], over the stencils of each entity, and adds each sum to the
/// values of the entity in `to`. Row i of `numbers` contains the derivatives with respect to the parameter values of
/// stencil i. The argument `stencils` contains the indices of the stencils, grouped by entity.
template <int P>
void add_numbers(const Grouped& stencils, const double* numbers, const point::ParameterNumbers<P, double>& to) {
  Kokkos::parallel_for(
      "diffsim::core::stencil_number_sums", Range(0, static_cast<int>(stencils.value.size())), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < P; ++k) {
          if (!to.of[k]) continue;
          double sum = 0.0;
          for (int s = stencils.begin(i); s < stencils.begin(i + 1); ++s)
            sum += numbers[P * static_cast<std::ptrdiff_t>(stencils.place(s)) + k];
          to.at(k, stencils.value(i)) += to.factor[k] * sum;
        }
      });
  Kokkos::fence();
}

}  // namespace diffsim::stencil
