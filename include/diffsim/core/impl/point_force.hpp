// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

#include "diffsim/core/impl/along.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

// Forces that act on each point independently, and their automatic differentiation.

namespace diffsim {

/// Quantities that the force on one point may depend on. The scalar type T of PointValues is `double`, or a Dual if
/// derivatives are computed.
template <class T, int P>
struct PointValues {
  Vec3<T> x;           ///< position (m)
  Vec3<T> v;           ///< velocity of the point (m/s); zero if the force term does not use velocities
  T p[P > 0 ? P : 1];  ///< values of the force term's parameters, one parameter after the other
  T weight;            ///< weight of the point, for example an area; 1 if the force term has no weights
  T time;              ///< time since the start of the rollout (s)

  /// Returns the vector (p[k], p[k + 1], p[k + 2]), the value of a parameter of three components.
  DIFFSIM_FUNCTION Vec3<T> vector(int k) const { return {{p[k], p[k + 1], p[k + 2]}}; }
};

namespace point {

// The concepts below are true if a force of type F has the named member; see PointTerm.

template <class F>
using Values = PointValues<double, F::num_values>;
template <class F>
concept HasForce = requires(const F& f, const Values<F>& at) {
  f.force(at);
};
template <class F>
concept HasEnergy = requires(const F& f, const Values<F>& at) {
  f.energy(at);
};
template <class F>
concept HasActive = requires(const F& f, const Values<F>& at) {
  f.active(at);
};
template <class F>
concept HasProjected = requires(const F& f) {
  f.projected();
};

template <class F>
constexpr bool uses_positions() {
  if constexpr (requires { F::uses_positions; }) return F::uses_positions;
  return true;
}
/// Returns true if a force of type F may use velocities, that is, if F::uses_velocities is a constant with the value
/// true, or a data member, whose value may be true.
template <class F>
constexpr bool may_use_velocities() {
  if constexpr (requires { std::bool_constant<F::uses_velocities>(); }) return F::uses_velocities;
  return requires { F::uses_velocities; };
}

/// Numbering of the scalars (inputs) with respect to which the force on a point is differentiated: first the components
/// of the position x and of the velocity v (if the force depends on x and v, respectively), then the parameter values
/// p, then the weight.
template <class F>
struct Inputs {
  static constexpr int positions = uses_positions<F>() ? 3 : 0, velocities = may_use_velocities<F>() ? 3 : 0;
  static constexpr int first_value = positions + velocities, weight = first_value + F::num_values, count = weight + 1;
};

/// Map from the flat index of a scalar in PointValues to the number of this scalar in the numbering Inputs; -1 for
/// scalars with respect to which no derivatives are computed. Flat indices number the scalars of PointValues in this
/// order: three components of the position x, three components of the velocity v, the parameter values p, the weight,
/// the time.
template <class F>
struct InputAt {
  using Of = Inputs<F>;
  static DIFFSIM_FUNCTION constexpr int number(int place) {
    if (place < 3) return Of::positions > 0 ? place : -1;
    if (place < 6) return Of::velocities > 0 ? Of::positions + place - 3 : -1;
    return place < 7 + F::num_values ? Of::first_value + place - 6 : -1;
  }
};
/// Alternative to the numbering InputAt: the number of each scalar is the scalar's flat index in PointValues. Kernels
/// use the numbering SamePlace to differentiate with respect to the position x alone, or with respect to x and the
/// velocity v.
struct SamePlace {
  static DIFFSIM_FUNCTION constexpr int number(int place) { return place; }
};

/// Converts the scalar with the flat index `place` in PointValues to an independent variable of differentiation if the
/// scalar's number in `Numbering` is 0 … N - 1, and to a constant otherwise.
template <int N, class Numbering = SamePlace>
struct Varied {
  template <class T>
  DIFFSIM_FUNCTION Dual<T, N> operator()(const T& value, const T&, int place) const {
    const int k = Numbering::number(place);
    return k >= 0 && k < N ? Dual<T, N>::variable(value, k) : Dual<T, N>::constant(value);
  }
};
/// Converts a scalar and the derivative of the scalar along a direction to a Dual.
struct Along {
  template <class T>
  DIFFSIM_FUNCTION Dual<T, 1> operator()(const T& value, const T& derivative, int) const {
    return along(value, derivative);
  }
};
/// Converts a scalar and the derivative of the scalar along a direction to a Dual, and this Dual to an independent
/// variable or a constant of differentiation, as Varied does.
template <int N, class Numbering>
struct VariedAlong {
  DIFFSIM_FUNCTION Dual<Dual<double, 1>, N> operator()(double value, double derivative, int place) const {
    const Dual<double, 1> moving = along(value, derivative);
    return Varied<N, Numbering>()(moving, moving, place);
  }
};

/// Calls each(0) … each(count - 1) as straight-line code, so that compilers keep arrays in registers. With Dual
/// numbers, a loop is up to ten times slower than straight-line code.
template <int count, class Each>
DIFFSIM_FUNCTION void repeat(const Each& each) {
  [&]<int... k>(std::integer_sequence<int, k...>) DIFFSIM_INLINED { (each(k), ...); }
  (std::make_integer_sequence<int, count>());
}

/// Returns PointValues in which the scalar with flat index i is `make(a_i, b_i, i)`, where a_i and b_i are the scalars
/// with flat index i in `a` and `b`. The documentation of the struct InputAt defines the flat index of a scalar.
template <class T, int P, class Make>
DIFFSIM_FUNCTION auto combined(const PointValues<T, P>& a, const PointValues<T, P>& b, const Make& make) {
  PointValues<decltype(make(a.time, b.time, 0)), P> result;
  repeat<3>([&](int c) DIFFSIM_INLINED {
    result.x[c] = make(a.x[c], b.x[c], c);
    result.v[c] = make(a.v[c], b.v[c], 3 + c);
  });
  repeat<P>([&](int k) DIFFSIM_INLINED { result.p[k] = make(a.p[k], b.p[k], 6 + k); });
  result.weight = make(a.weight, b.weight, 6 + P);
  result.time = make(a.time, b.time, 7 + P);
  return result;
}
template <class T, int P, class Make>
DIFFSIM_FUNCTION auto combined(const PointValues<T, P>& a, const Make& make) {
  return combined(a, a, make);
}

/// Returns the force on a point; if the force's type F defines only an energy E, the force is -∂E/∂x.
template <class F, class T>
DIFFSIM_FUNCTION Vec3<T> force_of(const F& f, const PointValues<T, F::num_values>& at) {
  if constexpr (HasForce<F>) {
    return f.force(at);
  } else {
    const Dual<T, 3> energy = f.energy(combined(at, Varied<3>()));
    return {{-energy.derivative[0], -energy.derivative[1], -energy.derivative[2]}};
  }
}

template <class F>
DIFFSIM_FUNCTION double energy_of(const F& f, const Values<F>& at) {
  if constexpr (HasEnergy<F>)
    return f.energy(at);
  else
    return 0.0;
}

template <class F>
DIFFSIM_FUNCTION bool is_active(const F& f, const Values<F>& at) {
  if constexpr (HasActive<F>)
    return f.active(at);
  else
    return true;
}

/// Returns the force law `f.projected()`, or the force law `f` if the type F of `f` has no function `projected`. If the
/// assembled Jacobian must be semidefinite, the derivative of the force `f.projected()` with respect to the position x
/// replaces the derivative of the force `f`.
template <class F>
DIFFSIM_FUNCTION F projected_of(const F& f) {
  if constexpr (HasProjected<F>)
    return f.projected();
  else
    return f;
}

}  // namespace point
}  // namespace diffsim
