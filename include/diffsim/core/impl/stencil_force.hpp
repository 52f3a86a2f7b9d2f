// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/point_force.hpp"

// Forces on stencils of a few nodes, and their automatic differentiation.

namespace diffsim {

/// Quantities that the force on a stencil of N nodes may depend on. The scalar type T of StencilValues is `double`, or
/// a Pack with the values of several stencils, or a Dual of `double` or of Pack if derivatives are computed.
template <class T, int N, int P>
struct StencilValues {
  Vec3<T> x[N];        ///< positions of the nodes (m)
  Vec3<T> v[N];        ///< velocities of the nodes (m/s); zero if the force term does not use velocities
  Vec3<T> X[N];        ///< rest positions of the nodes (m); zero if the force term does not use rest positions
  T p[P > 0 ? P : 1];  ///< values of the force term's parameters, one parameter after the other
  T time;              ///< time since the start of the rollout (s)

  /// Returns the parameter values p[k], p[k + 1] and p[k + 2] as a vector.
  DIFFSIM_FUNCTION Vec3<T> vector(int k) const { return {{p[k], p[k + 1], p[k + 2]}}; }
};

namespace stencil {

using point::repeat;

template <class F, class T = double>
using Values = StencilValues<T, F::num_nodes, F::num_values>;
/// Array of vectors, one vector for each node of a stencil.
template <class F, class T = double>
using Vectors = Vec3<T>[F::num_nodes];

// The concepts below are true if a force of type F has the named members; see StencilTerm.

template <class F>
concept HasForces = requires(const F& f, const Values<F>& at, Vectors<F>& out) {
  f.forces(at, out);
};
template <class F>
concept HasEnergy = requires(const F& f, const Values<F>& at) {
  f.energy(at);
};
template <class F>
concept HasWorkDerivatives = requires(const F& f, const Values<F>& at, const Vectors<F>& w, Values<F>& by) {
  f.work_derivatives(at, w, by);
};
template <class F>
concept HasEnergyDerivatives = requires(const F& f, const Values<F>& at, Values<F>& by) {
  f.energy_derivatives(at, by);
};
/// True if the force F defines formulas for derivatives: `work_derivatives`, for the derivatives of the work Σ w·f of
/// nodal forces f with given nodal vectors w; or `energy_derivatives`, for the derivatives of the energy.
template <class F>
concept HasFormulas = HasWorkDerivatives<F> || HasEnergyDerivatives<F>;
template <class F>
constexpr bool uses_velocities() {
  if constexpr (requires { F::uses_velocities; }) return F::uses_velocities;
  return false;
}
template <class F>
constexpr bool uses_rest() {
  if constexpr (requires { F::uses_rest; }) return F::uses_rest;
  return false;
}

/// Returns true if the functions of the force F accept the scalar type Pack, with the values of several stencils.
template <class F>
constexpr bool takes_packs() {
  if constexpr (requires { F::takes_packs; }) return F::takes_packs;
  return false;
}
/// Scalar type with which kernels evaluate the force F.
template <class F>
using Number = std::conditional_t<takes_packs<F>(), Pack, double>;
/// Number of stencils that a kernel for the force F processes at once.
template <class F>
inline constexpr int width = takes_packs<F>() ? pack_width : 1;

/// Numbering of the scalars (inputs) with respect to which the forces on a stencil are differentiated: first the
/// components of the positions x, then the components of the velocities v and of the rest positions X (if the force
/// depends on v and X, respectively), then the parameter values p.
template <class F>
struct Inputs {
  static constexpr int block = 3 * F::num_nodes;
  static constexpr int velocities = block, rest = velocities + (uses_velocities<F>() ? block : 0),
                       first_value = rest + (uses_rest<F>() ? block : 0), count = first_value + F::num_values;
};

/// Map from the flat index of a scalar in StencilValues to the number of this scalar in the numbering Inputs; -1 for
/// scalars with respect to which no derivatives are computed. Flat indices number the scalars of StencilValues in this
/// order: components of the positions x of all nodes, components of the velocities v, components of the rest positions
/// X, parameter values p, time.
template <class F>
struct InputAt {
  using Of = Inputs<F>;
  static DIFFSIM_FUNCTION constexpr int number(int place) {
    if (place < Of::block) return place;
    if (place < 2 * Of::block) return uses_velocities<F>() ? place : -1;
    if (place < 3 * Of::block) return uses_rest<F>() ? Of::rest + place - 2 * Of::block : -1;
    return place < 3 * Of::block + F::num_values ? Of::first_value + place - 3 * Of::block : -1;
  }
};

/// Returns StencilValues in which the scalar with flat index i is make(a_i, b_i, i), where a_i and b_i are the scalars
/// with flat index i in `a` and `b`. The documentation of the struct InputAt defines the flat index of a scalar.
template <class T, int N, int P, class Make>
DIFFSIM_FUNCTION auto combined(const StencilValues<T, N, P>& a, const StencilValues<T, N, P>& b, const Make& make) {
  StencilValues<decltype(make(a.time, b.time, 0)), N, P> result;
  repeat<3 * N>([&](int k) DIFFSIM_INLINED {
    const int i = k / 3, c = k % 3;
    result.x[i][c] = make(a.x[i][c], b.x[i][c], k);
    result.v[i][c] = make(a.v[i][c], b.v[i][c], 3 * N + k);
    result.X[i][c] = make(a.X[i][c], b.X[i][c], 6 * N + k);
  });
  repeat<P>([&](int k) DIFFSIM_INLINED { result.p[k] = make(a.p[k], b.p[k], 9 * N + k); });
  result.time = make(a.time, b.time, 9 * N + P);
  return result;
}
template <class T, int N, int P, class Make>
DIFFSIM_FUNCTION auto combined(const StencilValues<T, N, P>& a, const Make& make) {
  return combined(a, a, make);
}

/// Computes the derivatives of a stencil's energy by `F::energy_derivatives`. `shared_energy_derivatives` is compiled
/// once for all kernels that use scalars of type T.
template <class F, class T>
DIFFSIM_SHARED_FUNCTION void shared_energy_derivatives(const F& f,
                                                       const StencilValues<T, F::num_nodes, F::num_values>& at,
                                                       StencilValues<T, F::num_nodes, F::num_values>& by) {
  f.energy_derivatives(at, by);
}

/// Sets `out` to the forces at the nodes of a stencil; if the force F defines only an energy E, the forces are -∂E/∂x.
template <class F, class T>
DIFFSIM_FUNCTION void forces_of(const F& f, const StencilValues<T, F::num_nodes, F::num_values>& at,
                                Vectors<F, T>& out) {
  if constexpr (HasForces<F>) {
    f.forces(at, out);
  } else if constexpr (HasEnergyDerivatives<F>) {
    StencilValues<T, F::num_nodes, F::num_values> by;
    if constexpr (std::is_same_v<T, Dual<Number<F>, 1>>)
      shared_energy_derivatives<F, T>(f, at, by);
    else
      f.energy_derivatives(at, by);
    repeat<3 * F::num_nodes>([&](int k) DIFFSIM_INLINED { out[k / 3][k % 3] = -by.x[k / 3][k % 3]; });
  } else {
    constexpr int n = 3 * F::num_nodes;
    const Dual<T, n> energy = f.energy(combined(at, point::Varied<n>()));
    repeat<n>([&](int k) DIFFSIM_INLINED { out[k / 3][k % 3] = -energy.derivative[k]; });
  }
}

/// Returns the work Σ_a w_a·f_a, where f_a is the force on node a and w_a is a given vector. If the class F defines
/// only an energy, the work is minus the derivative of the energy along the direction in which the position of each
/// node a changes by w_a.
template <class F, class T>
DIFFSIM_FUNCTION T work_of(const F& f, const StencilValues<T, F::num_nodes, F::num_values>& at,
                           const Vectors<F, T>& w) {
  constexpr int n = F::num_nodes;
  if constexpr (HasForces<F>) {
    Vec3<T> forces[n];
    f.forces(at, forces);
    T sum = dot(w[0], forces[0]);
    repeat<n - 1>([&](int i) DIFFSIM_INLINED { sum += dot(w[i + 1], forces[i + 1]); });
    return sum;
  } else {
    const auto along_w = [&](const T& value, const T&, int place) DIFFSIM_INLINED {
      Dual<T, 1> a = Dual<T, 1>::constant(value);
      if (place < 3 * n) a.derivative[0] = w[place / 3][place % 3];
      return a;
    };
    return -f.energy(combined(at, along_w)).derivative[0];
  }
}

/// Sets `by` to the derivatives of the work Σ_a w_a·f_a with respect to positions x, velocities v, rest positions X and
/// parameter values p, where f_a is the force on node a and w_a is a given vector. The derivatives with respect to
/// velocities are set only if the force uses velocities. The derivatives with respect to rest positions are set only if
/// the force uses rest positions, and either `by_rest` is true or F defines `work_derivatives`. If the class F defines
/// derivatives of an energy E instead of `work_derivatives`, the derivatives of the work are minus the derivatives of
/// ∂E/∂x, ∂E/∂X and ∂E/∂p along the direction in which the position of each node a changes by w_a.
template <bool by_rest, class F, class T>
DIFFSIM_FUNCTION void work_derivatives_of(const F& f, const StencilValues<T, F::num_nodes, F::num_values>& at,
                                          const Vectors<F, T>& w, StencilValues<T, F::num_nodes, F::num_values>& by) {
  if constexpr (HasWorkDerivatives<F>) {
    f.work_derivatives(at, w, by);
  } else {
    static_assert(!uses_velocities<F>(), "an energy does not depend on velocities; define `work_derivatives`");
    constexpr int n = 3 * F::num_nodes;
    const auto along_w = [&](const T& value, const T&, int place) DIFFSIM_INLINED {
      Dual<T, 1> a = Dual<T, 1>::constant(value);
      if (place < n) a.derivative[0] = w[place / 3][place % 3];
      return a;
    };
    StencilValues<Dual<T, 1>, F::num_nodes, F::num_values> of_energy;
    if constexpr (by_rest && std::is_same_v<T, Number<F>>)
      shared_energy_derivatives<F, Dual<T, 1>>(f, combined(at, along_w), of_energy);
    else
      f.energy_derivatives(combined(at, along_w), of_energy);
    repeat<n>([&](int k) DIFFSIM_INLINED {
      by.x[k / 3][k % 3] = -of_energy.x[k / 3][k % 3].derivative[0];
      if constexpr (by_rest && uses_rest<F>()) by.X[k / 3][k % 3] = -of_energy.X[k / 3][k % 3].derivative[0];
    });
    repeat<F::num_values>([&](int k) DIFFSIM_INLINED { by.p[k] = -of_energy.p[k].derivative[0]; });
  }
}

template <class F>
DIFFSIM_FUNCTION Number<F> energy_of(const F& f, const Values<F, Number<F>>& at) {
  if constexpr (HasEnergy<F>)
    return f.energy(at);
  else
    return 0.0;
}

template <class F>
DIFFSIM_FUNCTION bool is_active(const F& f, const Values<F, Number<F>>& at) {
  if constexpr (requires(const Values<F>& one) { f.active(one); }) {
    static_assert(!takes_packs<F>(), "stencils of a pack are active together: no member `active` with `takes_packs`");
    return f.active(at);
  } else {
    return true;
  }
}

/// Converts the scalar with the flat index `place` in StencilValues to an independent variable of differentiation if
/// the scalar's number in `Numbering` is `first` … `first` + n - 1, and to a constant otherwise.
template <int n, class Numbering>
struct Varied {
  int first;

  template <class T>
  DIFFSIM_FUNCTION Dual<T, n> seed(const T& value, int place) const {
    Dual<T, n> a;
    a.value = value;
    for (int k = 0; k < n; ++k) a.derivative[k] = T(Numbering::number(place) == first + k ? 1.0 : 0.0);
    return a;
  }
  template <class T>
  DIFFSIM_FUNCTION auto operator()(const T& value, const T&, int place) const {
    return seed(value, place);
  }
};
/// Variant of `Varied` for scalars that also have a derivative along a direction: first converts the scalar and the
/// derivative to a Dual, then this Dual to an independent variable or a constant.
template <int n, class Numbering>
struct VariedAlong : Varied<n, Numbering> {
  template <class T>
  DIFFSIM_FUNCTION auto operator()(const T& value, const T& derivative, int place) const {
    return this->seed(along(value, derivative), place);
  }
};

/// Adds to the matrix J the derivatives, times `factor`, of the nodal forces with respect to the n scalars whose flat
/// indices begin at `start`: the components of the positions if `start` is 0, or of the velocities if `start` is n. If
/// the force F has formulas for the derivatives of the energy, the columns of J are computed one at a time, because
/// intermediate results for all columns at once would not fit in registers. `add_block` then calls the instantiation of
/// `shared_energy_derivatives` that also computes tangents. Without formulas, all columns of J are computed at once if
/// n ≤ 12, and three columns at a time otherwise.
template <class F, class T, int n>
DIFFSIM_SHARED_FUNCTION void add_block(const F& f, const Values<F, T>& at, int start, double factor, T (&J)[n][n]) {
  constexpr int at_once = HasEnergyDerivatives<F> ? 1 : n <= 12 ? n : 3;
  for (int first = 0; first < n; first += at_once) {
    Vectors<F, Dual<T, at_once>> force;
    forces_of(f, combined(at, Varied<at_once, point::SamePlace>{start + first}), force);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < at_once; ++c) J[r][first + c] += factor * force[r / 3][r % 3].derivative[c];
  }
}

/// Sets J = a ∂f/∂x + b ∂f/∂v, where f, x and v are the forces, positions and velocities of the nodes, a =
/// `by_position` and b = `by_velocity`.
template <class F, class T, int n>
DIFFSIM_FUNCTION void jacobian_of(const F& f, const Values<F, T>& at, double by_position, double by_velocity,
                                  T (&J)[n][n]) {
  for (int k = 0; k < n * n; ++k) J[k / n][k % n] = T(0.0);
  add_block(f, at, 0, by_position, J);
  if constexpr (uses_velocities<F>()) add_block(f, at, n, by_velocity, J);
}

}  // namespace stencil
}  // namespace diffsim
