// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>

#include "diffsim/core/block_matrix_impl.hpp"
#include "diffsim/core/loops_impl.hpp"
#include "diffsim/core/point_parameters_impl.hpp"
#include "diffsim/core/semidefinite.hpp"
#include "diffsim/core/stencil_force.hpp"

// The kernels of StencilTerm: one stencil a thread, which writes a row of its own; then one vertex a thread, which adds
// up what its stencils wrote, in their order.

namespace diffsim::stencil {

/// Device addresses of all inputs, or of their derivatives along a direction; zero without an address.
template <int P>
struct Addresses {
  const double* x = nullptr;  ///< [local vertices, 3]
  const double* v = nullptr;  ///< [local vertices, 3]
  const double* X = nullptr;  ///< [local vertices, 3]
  point::ParameterNumbers<P, const double> p = {};
  double time = 0.0;
};

/// Number of the entity that stencil i is, whose parameters it takes: entities[i], or i where there are none.
DIFFSIM_FUNCTION int entity_of(const DeviceArray<int>& entities, int i) {
  return entities.size() > 0 ? entities(i) : i;
}

/// The stencils, the force on them, and its inputs.
template <class F>
struct Sweep {
  F force;
  int count;                  // of stencils
  DeviceArray<int> vertices;  // [count, num_nodes]
  DeviceArray<int> entities;  // [count], or empty
  Addresses<F::num_values> at;
};

/// Vectors of stencil i's nodes; zeros without an address.
template <class F, class T>
DIFFSIM_FUNCTION void read_nodes(const Sweep<F>& sweep, int i, const double* field, Vec3<T> (&value)[F::num_nodes]) {
  for (int a = 0; a < F::num_nodes; ++a) {
    const std::ptrdiff_t place = 3 * static_cast<std::ptrdiff_t>(sweep.vertices(F::num_nodes * i + a));
    for (int c = 0; c < 3; ++c) value[a][c] = field ? field[place + c] : 0.0;
  }
}
template <class F>
DIFFSIM_FUNCTION Values<F> read(const Sweep<F>& sweep, const Addresses<F::num_values>& from, int i) {
  Values<F> at;
  read_nodes(sweep, i, from.x, at.x);
  read_nodes(sweep, i, from.v, at.v);
  read_nodes(sweep, i, from.X, at.X);
  const int entity = entity_of(sweep.entities, i);
  for (int k = 0; k < F::num_values; ++k) at.p[k] = from.p.value(k, entity);
  at.time = from.time;
  return at;
}

/// Sets a row of `length` numbers for each stencil: each(sweep, i, its values, row) where it is active, else zeros.
template <class F, class Each>
void set_rows(const char* label, const Sweep<F>& sweep, int length, double* rows, const Each& each) {
  for_each_index(
      label, sweep.count, KOKKOS_LAMBDA(int i) {
        double* const row = rows + static_cast<std::ptrdiff_t>(length) * i;
        const Values<F> at = read(sweep, sweep.at, i);
        if (is_active(sweep.force, at))
          each(sweep, i, at, row);
        else
          for (int k = 0; k < length; ++k) row[k] = 0.0;
      });
}

template <class F>
struct Energies {
  Sweep<F> sweep;
  DIFFSIM_FUNCTION void operator()(int i, double& sum) const {
    const Values<F> at = read(sweep, sweep.at, i);
    if (is_active(sweep.force, at)) sum += energy_of(sweep.force, at);
  }
};

struct Forces {
  template <class F>
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int, const Values<F>& at, double* row) const {
    Vectors<F> f;
    forces_of(sweep.force, at, f);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = f[k / 3][k % 3];
  }
};

template <class F>
struct Tangents {
  Addresses<F::num_values> direction;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    Vectors<F, Dual<double, 1>> f;
    forces_of(sweep.force, combined(at, read(sweep, direction, i), point::Along()), f);
    for (int k = 0; k < 3 * F::num_nodes; ++k) row[k] = f[k / 3][k % 3].derivative[0];
  }
};

/// Number of derivatives of w·f taken at once: as many as a SIMD register has numbers.
inline constexpr int at_once = 8;

/// Derivatives of w·f by all inputs.
template <class F>
struct Adjoints {
  const double* w;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    constexpr int n = Inputs<F>::count;
    Vectors<F, Dual<double, at_once>> by_force;
    read_nodes(sweep, i, w, by_force);
    for (int first = 0; first < n; first += at_once) {
      const Dual<double, at_once> work =
          work_of(sweep.force, combined(at, Varied<at_once, InputAt<F>>{first}), by_force);
      for (int k = first; k < n && k < first + at_once; ++k) row[k] = work.derivative[k - first];
    }
  }
};

/// Derivatives of what `Adjoints` gives, along a direction and dw. w or dw may be nullptr: zero.
template <class F>
struct AdjointTangents {
  Addresses<F::num_values> direction;
  const double *w, *dw;

  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int i, const Values<F>& at, double* row) const {
    constexpr int n = Inputs<F>::count;
    using Scalar = Dual<Dual<double, 1>, at_once>;
    Vectors<F> value, change;
    read_nodes(sweep, i, w, value);
    read_nodes(sweep, i, dw, change);
    Vectors<F, Scalar> by_force;
    for (int k = 0; k < 3 * F::num_nodes; ++k)
      by_force[k / 3][k % 3] = Scalar::constant(along(value[k / 3][k % 3], change[k / 3][k % 3]));
    const Values<F> along_direction = read(sweep, direction, i);
    for (int first = 0; first < n; first += at_once) {
      const Scalar work =
          work_of(sweep.force, combined(at, along_direction, VariedAlong<at_once, InputAt<F>>{{first}}), by_force);
      for (int k = first; k < n && k < first + at_once; ++k) row[k] = work.derivative[k - first].derivative[0];
    }
  }
};

/// At each node of a stencil the Frobenius norm of a ∂f/∂x + b ∂f/∂v, which no eigenvalue exceeds.
struct Norms {
  double by_position, by_velocity;

  template <class F>
  DIFFSIM_FUNCTION void operator()(const Sweep<F>& sweep, int, const Values<F>& at, double* row) const {
    constexpr int n = 3 * F::num_nodes;
    double J[n][n], sum = 0.0;
    jacobian_of(sweep.force, at, by_position, by_velocity, J);
    for (int k = 0; k < n * n; ++k) sum += J[k / n][k % n] * J[k / n][k % n];
    for (int k = 0; k < n; ++k) row[k] = std::sqrt(sum);
  }
};

/// The blocks of the Jacobian of a pack's stencils.
template <class F>
struct Jacobians {
  Sweep<F> sweep;
  JacobianWeights weights;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, const BlockSink& sink) const {
    constexpr int n = 3 * F::num_nodes;
    Mat3<Pack> blocks[F::num_nodes][F::num_nodes] = {};
    for (int lane = 0; lane < pack_width; ++lane) {
      const int i = pack_width * pack + lane;
      if (i >= sweep.count) break;
      const Values<F> at = read(sweep, sweep.at, i);
      if (!is_active(sweep.force, at)) continue;
      double J[n][n];
      jacobian_of(sweep.force, at, weights.position, weights.velocity, J);
      if (weights.project) {
        for (int r = 0; r < n; ++r)
          for (int c = 0; c < r; ++c) J[r][c] = J[c][r] = 0.5 * (J[r][c] + J[c][r]);
        make_semidefinite(J);
      }
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) set_lane(blocks[r / 3][c / 3](r % 3, c % 3), lane, J[r][c]);
    }
    for (int a = 0; a < F::num_nodes; ++a)
      for (int b = 0; b < F::num_nodes; ++b) sink.add(a, b, blocks[a][b]);
  }
};

/// Stencils' nodes grouped by vertex, in the order of the stencils.
struct NodesOfVertices {
  DeviceArray<int> vertex;  // [n], those that stencils have
  DeviceArray<int> begin;   // [n + 1]
  DeviceArray<int> node;    // num_nodes · stencil + its node
};

/// y_v += Σ of the rows' vectors of nodes at v, which begin at number `first` of rows of `length`.
template <int num_nodes>
void add_rows(const NodesOfVertices& of, const double* rows, int length, int first, double* y) {
  Kokkos::parallel_for(
      "diffsim::core::stencil_sums", Range(0, static_cast<int>(of.vertex.size())), KOKKOS_LAMBDA(int i) {
        double sum[3] = {};
        for (int s = of.begin(i); s < of.begin(i + 1); ++s) {
          const int node = of.node(s);
          const double* const vector =
              rows + static_cast<std::ptrdiff_t>(length) * (node / num_nodes) + first + 3 * (node % num_nodes);
          for (int c = 0; c < 3; ++c) sum[c] += vector[c];
        }
        for (int c = 0; c < 3; ++c) y[3 * static_cast<std::ptrdiff_t>(of.vertex(i)) + c] += sum[c];
      });
  Kokkos::fence();
}

/// Adds the derivatives by numbers p of single stencils, from `first` on in their rows; returns the sums of all.
template <int P>
point::Sums<P> add_values(int count, const DeviceArray<int>& entities, const double* rows, int length, int first,
                          const point::ParameterNumbers<P, double>& to) {
  point::Sums<P> sums;
  if constexpr (P > 0)
    Kokkos::parallel_reduce(
        "diffsim::core::stencil_values", Range(0, count),
        KOKKOS_LAMBDA(int i, point::Sums<P>& s) {
          const double* const row = rows + static_cast<std::ptrdiff_t>(length) * i + first;
          for (int k = 0; k < P; ++k) {
            s.of[k] += row[k];
            if (to.of[k]) to.at(k, entity_of(entities, i)) += to.factor[k] * row[k];
          }
        },
        sums);
  return sums;
}

}  // namespace diffsim::stencil
