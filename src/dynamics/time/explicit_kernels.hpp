// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/dynamics/system.hpp"
#include "dynamics/time/explicit_rule.hpp"

// Kernels of explicit substeps. T is double, or `Along` for values together with their derivatives along a direction.
// Index i = 3 vertex + c denotes component c of an owned vertex.

namespace diffsim::dynamics {

using Along = Dual<double, 1>;

/// Read-only array with entries of the scalar type T. If T is a Dual type, a pointer `value` or `derivative` that is
/// nullptr stands for an array of zeros.
template <class T>
struct In;
template <>
struct In<double> {
  const double* value = nullptr;
  KOKKOS_INLINE_FUNCTION double operator()(int i) const { return value[i]; }
};
template <>
struct In<Along> {
  const double* value = nullptr;
  const double* derivative = nullptr;
  KOKKOS_INLINE_FUNCTION Along operator()(int i) const {
    Along a(value ? value[i] : 0.0);
    if (derivative) a.derivative[0] = derivative[i];
    return a;
  }
};

/// Writable array with entries of the scalar type T. If T is a Dual type and the pointer `value` is nullptr, only
/// derivatives are stored.
template <class T>
struct Out;
template <>
struct Out<double> {
  double* value = nullptr;
  KOKKOS_INLINE_FUNCTION double operator()(int i) const { return value[i]; }
  KOKKOS_INLINE_FUNCTION void set(int i, double x) const { value[i] = x; }
  In<double> in() const { return {value}; }
};
template <>
struct Out<Along> {
  double* value = nullptr;
  double* derivative = nullptr;
  KOKKOS_INLINE_FUNCTION Along operator()(int i) const { return In<Along>{value, derivative}(i); }
  KOKKOS_INLINE_FUNCTION void set(int i, const Along& x) const {
    if (value) value[i] = x.value;
    derivative[i] = x.derivative[0];
  }
  In<Along> in() const { return {value, derivative}; }
};

/// Substep length of an explicit step, and addresses of the masses, of gravity, of the damping factor and of the masks
/// of fixed components. Kernels capture an ExplicitUpdate by value.
template <class T>
struct ExplicitUpdate {
  double h;                   // length of a substep, s
  In<T> damping;              // [1]
  In<T> gravity;              // [3]
  In<T> mass;                 // [owned vertices]
  const std::uint8_t* fixed;  // [owned vertices]: masks of System::fixed

  KOKKOS_INLINE_FUNCTION double mask(int i) const { return (fixed[i / 3] >> (i % 3)) & 1 ? 0.0 : 1.0; }
  /// Returns component i of the acceleration for the force component f: f/m + g with the mass m and gravity g, or f/m
  /// at vertices on which gravity does not act.
  KOKKOS_INLINE_FUNCTION T acceleration(int i, const T& f) const {
    const T a = f / mass(i / 3);
    return (fixed[i / 3] & System::weightless) != 0 ? a : a + gravity(i % 3);
  }
};

/// Coefficients of an ExplicitRule for a stage i (c_i, a_ij, ā_ij), or for the end of a substep (β, β', b_j, b̄_j),
/// multiplied by powers of the substep length h.
struct StageWeights {
  int earlier = 0;  ///< number of stages before stage i, or before the last stage for the end of a substep
  /// Factor of the velocity v in the position: h c_i for stage i, or h β for the end of a substep.
  double drift = 0.0;
  /// Factor of the new velocity v' in the position at the end of a substep: h β'.
  double new_velocity = 0.0;
  /// Factors of the accelerations of the stages j in the velocity: h a_ij for stage i, or h b_j for the end of a
  /// substep.
  double velocity[max_stages] = {};
  /// Factors of the accelerations of the stages j in the position: h² ā_ij for stage i, or h² b̄_j for the end of a
  /// substep.
  double position[max_stages] = {};

  StageWeights(int count, double h, double c, const ExplicitRule::Row& a, const ExplicitRule::Row& a_bar)
      : earlier(count), drift(h * c) {
    for (std::size_t j = 0; j < max_stages; ++j) {
      velocity[j] = h * a[j];
      position[j] = h * h * a_bar[j];
    }
  }
  static StageWeights of_stage(const ExplicitRule& rule, std::size_t i, double h) {
    const ExplicitRule::Stage& stage = rule.stages[i];
    return {static_cast<int>(i), h, stage.time, stage.velocity, stage.position};
  }
  static StageWeights of_end(const ExplicitRule& rule, double h) {
    StageWeights end(static_cast<int>(rule.stages.size()) - 1, h, rule.old_velocity, rule.velocity, rule.position);
    end.new_velocity = h * rule.new_velocity;
    return end;
  }
};

/// Accelerations of all stages except the last; `of[j]` is the acceleration of stage j.
template <class T>
struct Earlier {
  In<T> of[max_stages];
};
template <class T>
struct EarlierAdjoints {
  Out<T> of[max_stages];
};

/// Kernel that computes the acceleration f/m + g of a stage from the force f, for use in later stages.
template <class T>
struct StoreAcceleration {
  ExplicitUpdate<T> update;
  In<T> f;
  Out<T> acceleration;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { acceleration.set(i, update.acceleration(i, f(i))); }
};

/// Kernel that computes the positions X_i and velocities V_i of a stage i after the first, as ExplicitRule defines. The
/// positions and velocities of a stage are linear in the positions x and velocities v at the start of the substep and
/// in the accelerations, so StageUpdate also computes the tangents of the positions and velocities of a stage.
struct StageUpdate {
  StageWeights weights;
  const std::uint8_t* fixed;
  Earlier<double> accelerations;
  const double *x, *v;
  double *stage_x, *stage_v;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    const bool is_fixed = (fixed[i / 3] >> (i % 3)) & 1;
    double displacement = weights.drift * v[i], velocity = v[i];
    for (int j = 0; j < weights.earlier; ++j) {
      displacement += weights.position[j] * accelerations.of[j](i);
      velocity += weights.velocity[j] * accelerations.of[j](i);
    }
    stage_x[i] = is_fixed ? x[i] : x[i] + displacement;
    stage_v[i] = is_fixed ? 0.0 : velocity;
  }
};

/// Calls act(c), where c is the number of stages of the time integrator minus one, as a compile-time constant. Kernels
/// of time integrators with one stage are compiled without loops over stages.
template <class Act>
void with_earlier(const ExplicitRule& rule, const Act& act) {
  switch (rule.stages.size()) {
    case 1:
      return act(std::integral_constant<int, 0>());
    case 2:
      return act(std::integral_constant<int, 1>());
    case 3:
      return act(std::integral_constant<int, 2>());
    default:
      return act(std::integral_constant<int, 3>());
  }
}

/// Kernel that replaces the positions x and velocities v at the start of a substep by the positions x' and velocities
/// v' at the end of the substep, as ExplicitRule defines. f: force of the last stage.
template <class T, int earlier>
struct EndUpdate {
  ExplicitUpdate<T> update;
  StageWeights weights;
  Earlier<T> accelerations;
  In<T> f;

  /// Returns the velocity at the end of the substep without damping, v + h Σ_i b_i A_i, with the coefficients b_i of
  /// ExplicitRule and the accelerations A_i of the stages.
  KOKKOS_INLINE_FUNCTION T undamped(int i, T v) const {
    for (int j = 0; j < earlier; ++j) v = v + weights.velocity[j] * accelerations.of[j](i);
    return v + weights.velocity[earlier] * update.acceleration(i, f(i));
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i, T& x, T& v) const {
    const double m = update.mask(i);
    T displacement = weights.drift * v + weights.position[earlier] * update.acceleration(i, f(i));
    for (int j = 0; j < earlier; ++j) displacement = displacement + weights.position[j] * accelerations.of[j](i);
    const T new_v = m * update.damping(0) * undamped(i, v);
    x = x + m * displacement + weights.new_velocity * new_v;
    v = new_v;
  }
};

/// Adjoint of `EndUpdate`: computes
///   ū = m d (v̄' + h β' x̄'),   v̄ = ū + h β m x̄',   Ā_i = h b_i ū + h² b̄_i m x̄',   f̄ = Ā_s/mass,
/// where x̄' and v̄' are the adjoints of the positions and velocities at the end of a substep of length h, ū is the
/// adjoint of the undamped velocities, v̄ is the adjoint of the velocities at the start of the substep, Ā_i is the
/// adjoint of the acceleration of stage i, f̄ is the adjoint of the force of the last stage s, m is the mask, d is the
/// damping factor, and b_i, b̄_i, β and β' are coefficients of ExplicitRule.
template <class T, int earlier>
struct EndAdjoint {
  ExplicitUpdate<T> update;
  StageWeights weights;
  In<T> x_bar;
  Out<T> v_bar;
  EarlierAdjoints<T> acceleration_bars;
  Out<T> f_bar;

  /// Returns m (v̄' + h β' x̄'), the adjoint of the damped velocity, with the symbols of the formulas of EndAdjoint.
  KOKKOS_INLINE_FUNCTION T masked(int i) const { return update.mask(i) * (v_bar(i) + weights.new_velocity * x_bar(i)); }
  KOKKOS_INLINE_FUNCTION T acceleration_bar(int j, const T& u_bar, const T& x_free) const {
    return weights.velocity[j] * u_bar + weights.position[j] * x_free;
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    const T u_bar = update.damping(0) * masked(i);
    const T x_free = update.mask(i) * x_bar(i);
    v_bar.set(i, u_bar + weights.drift * x_free);
    for (int j = 0; j < earlier; ++j) acceleration_bars.of[j].set(i, acceleration_bar(j, u_bar, x_free));
    f_bar.set(i, acceleration_bar(earlier, u_bar, x_free) / update.mass(i / 3));
  }
};

/// Adjoint of `StageUpdate`: adds the contributions of `stage_x_bar` and `stage_v_bar`, the adjoints of the stage's
/// positions and velocities, to the adjoints `x_bar` and `v_bar` at the start of the substep and to the adjoints of the
/// accelerations of earlier stages.
template <class T>
struct StageAdjoint {
  StageWeights weights;
  const std::uint8_t* fixed;
  In<T> stage_x_bar, stage_v_bar;
  bool has_velocities;  // true if stage_v_bar is given
  Out<T> x_bar, v_bar;
  EarlierAdjoints<T> acceleration_bars;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    const double m = (fixed[i / 3] >> (i % 3)) & 1 ? 0.0 : 1.0;
    const T by_x = m * stage_x_bar(i), by_v = has_velocities ? m * stage_v_bar(i) : T(0.0);
    x_bar.set(i, x_bar(i) + stage_x_bar(i));
    v_bar.set(i, v_bar(i) + by_v + weights.drift * by_x);
    for (int j = 0; j < weights.earlier; ++j)
      acceleration_bars.of[j].set(i,
                                  acceleration_bars.of[j](i) + weights.velocity[j] * by_v + weights.position[j] * by_x);
  }
};

/// Runs a functor for the indices [begin, end) on the device and waits until the functor has completed.
template <class Functor>
void for_components(const char* label, int begin, int end, const Functor& functor) {
  Kokkos::parallel_for(label, Range(begin, end), functor);
  Kokkos::fence();
}

}  // namespace diffsim::dynamics
