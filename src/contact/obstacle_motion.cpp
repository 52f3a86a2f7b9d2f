// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/obstacle_motion.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "contact/pair_kernels.hpp"
#include "core/add_to_entries.hpp"
#include "diffsim/core/impl/along.hpp"

namespace diffsim::contact {
namespace {

using D = Dual<double, 1>;

/// Device addresses of the displacement p, the velocity V and the angular velocity ω; nullptr stands for zero.
struct Rates {
  const double *position, *velocity, *angular_velocity;
  KOKKOS_INLINE_FUNCTION double p(int c) const { return position ? position[c] : 0.0; }
  KOKKOS_INLINE_FUNCTION double v(int c) const { return velocity ? velocity[c] : 0.0; }
  KOKKOS_INLINE_FUNCTION double w() const { return angular_velocity ? *angular_velocity : 0.0; }
};

Rates rates_of(const ObstacleMotion& motion, const ParameterSet& set, int n) {
  const auto names = motion.names();
  return {address_of(set, names[0], n), address_of(set, names[1], n), address_of(set, names[2], n)};
}

/// Computes the position x and the velocity v of one vertex from its reference position X: x = X + p + t V and v = V;
/// for turning obstacles with the axis a and the origin o, x = o + r + p + t V and v = V + ω a×r, with r = R(ω t) (X -
/// o).
template <class T>
KOKKOS_INLINE_FUNCTION void move(const Turn& turn, const Vec3<double>& X, const Vec3<T>& p, const Vec3<T>& V,
                                 const T& w, const T& t, Vec3<T>& x, Vec3<T>& v) {
  if (!turn.turns) {
    for (int c = 0; c < 3; ++c) x[c] = X[c] + p[c] + t * V[c];
    v = V;
    return;
  }
  const Vec3<T> r = rotated(turn.axis, T(w * t), X - turn.origin);
  const Vec3<T> speed = cross_axis(turn.axis, r);
  for (int c = 0; c < 3; ++c) {
    x[c] = turn.origin[c] + r[c] + p[c] + t * V[c];
    v[c] = V[c] + w * speed[c];
  }
}

/// Computes the position x and the velocity v of the vertex with the reference position X, as functions of the eight
/// values p, V, ω and t. Each of these values is a Dual whose derivative is the direction of the value. `seed(value,
/// k)` converts the k-th Dual to the scalar type T.
template <class T, class Seed>
KOKKOS_INLINE_FUNCTION void move_along(const Turn& turn, const double* X, const Rates& rates, const Rates& changes,
                                       double time, double dt, const Seed& seed, Vec3<T>& x, Vec3<T>& v) {
  Vec3<T> p, V;
  for (int c = 0; c < 3; ++c) {
    p[c] = seed(along(rates.p(c), changes.p(c)), c);
    V[c] = seed(along(rates.v(c), changes.v(c)), 3 + c);
  }
  move(turn, Vec3<double>{{X[0], X[1], X[2]}}, p, V, seed(along(rates.w(), changes.w()), 6), seed(along(time, dt), 7),
       x, v);
}

/// Computes the positions and the velocities of the obstacle's vertices (`move`). A nullptr for `places` or
/// `velocities` omits these results.
void move_all(const ObstacleMotion& motion, const double* reference, const Rates& rates, double time, double* places,
              double* velocities) {
  const Turn turn = motion.turn;
  Kokkos::parallel_for(
      "diffsim::contact::move_obstacle", Range(motion.first, motion.last), KOKKOS_LAMBDA(int i) {
        Vec3<double> X, p, V, x, v;
        for (int c = 0; c < 3; ++c) {
          X[c] = reference[3 * i + c];
          p[c] = rates.p(c);
          V[c] = rates.v(c);
        }
        move(turn, X, p, V, rates.w(), time, x, v);
        for (int c = 0; c < 3; ++c) {
          if (places) places[3 * i + c] = x[c];
          if (velocities) velocities[3 * i + c] = v[c];
        }
      });
  Kokkos::fence();
}

/// Adjoints of p, V and ω, summed over vertices.
struct MotionSums {
  double of[7] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const MotionSums& other) {
    for (int k = 0; k < 7; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile MotionSums& other) volatile {
    for (int k = 0; k < 7; ++k) of[k] = of[k] + other.of[k];
  }
};

/// Returns the sums over vertices of ∂x/∂q x̄ + ∂v/∂q v̄ for q = p, V and ω: Σ x̄, Σ (t x̄ + v̄) and, for turning
/// obstacles, Σ x̄·∂x/∂ω + v̄·∂v/∂ω. Entry i of `x_bar` and `v_bar` is a contribution to vertex targets(i); an empty
/// `v_bar` counts as zero.
MotionSums sum_adjoints(const ObstacleMotion& motion, const DeviceArray<int>& targets, int begin,
                        const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                        const DeviceArray<double>& v_bar, const Rates& rates, double time) {
  const Turn turn = motion.turn;
  const int first = begin + motion.first, last = begin + motion.last;
  const bool rated = v_bar.size() > 0;
  MotionSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::obstacle_adjoint", Range(0, static_cast<int>(targets.size())),
      KOKKOS_LAMBDA(int i, MotionSums& s) {
        if (targets(i) < first || targets(i) >= last) return;
        Vec3<double> by_x, by_v, r;
        for (int c = 0; c < 3; ++c) {
          by_x[c] = x_bar(3 * i + c);
          by_v[c] = rated ? v_bar(3 * i + c) : 0.0;
          r[c] = x(3 * targets(i) + c) - turn.origin[c] - rates.p(c) - time * rates.v(c);
          s.of[c] += by_x[c];
          s.of[3 + c] += time * by_x[c] + by_v[c];
        }
        if (!turn.turns) return;
        // ∂x/∂ω = t a × r, ∂v/∂ω = a × r + ω t a × (a × r).
        const Vec3<double> once = cross(turn.axis, r), twice = cross(turn.axis, once);
        s.of[6] += time * dot(by_x, once) + dot(by_v, once) + rates.w() * time * dot(by_v, twice);
      },
      sums);
  return sums;
}

/// Directional derivatives of the sums that `sum_adjoints` computes, along a direction of p, V, ω, t, x̄ and v̄.
MotionSums sum_adjoint_tangents(const ObstacleMotion& motion, const DeviceArray<int>& targets, int begin,
                                const double* reference, const PairAdjointTangent& bar, const Rates& rates,
                                const Rates& changes, double time, double dt) {
  const Turn turn = motion.turn;
  const int first = begin + motion.first, last = begin + motion.last;
  const bool rated = bar.v_bar.size() > 0;
  MotionSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::obstacle_adjoint_tangent", Range(0, static_cast<int>(targets.size())),
      KOKKOS_LAMBDA(int i, MotionSums& s) {
        using Scalar = Dual<D, 7>;
        if (targets(i) < first || targets(i) >= last) return;
        // The outer derivatives are with respect to p, V and ω, but not t.
        const auto seed = [](const D& number, int k) {
          return k < 7 ? Scalar::variable(number, k) : Scalar::constant(number);
        };
        Vec3<Scalar> x, v;
        move_along(turn, reference + 3 * (targets(i) - begin), rates, changes, time, dt, seed, x, v);
        Scalar product(0.0);
        for (int c = 0; c < 3; ++c) {
          product = product + Scalar::constant(along(bar.x_bar(3 * i + c), bar.dx_bar(3 * i + c))) * x[c];
          if (rated) product = product + Scalar::constant(along(bar.v_bar(3 * i + c), bar.dv_bar(3 * i + c))) * v[c];
        }
        for (int k = 0; k < 7; ++k) s.of[k] += product.derivative[k].derivative[0];
      },
      sums);
  return sums;
}

}  // namespace

const double* address_of(const ParameterSet& set, const std::string& name, int n) {
  const Parameter* p = set.find(name);
  return p ? p->field.data() + p->offset(n) * static_cast<std::size_t>(p->field.components()) : nullptr;
}

void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values) {
  Parameter* const parameter = gradient.find(name);
  if (!parameter) return;
  const auto components = static_cast<std::size_t>(parameter->field.components());
  add_to_entries(parameter->field, parameter->offset(n) * components, {values, values + components});
}

std::array<std::string, 3> ObstacleMotion::names() const {
  return {"obstacle_position:" + label, "obstacle_velocity:" + label, "obstacle_angular_velocity:" + label};
}

bool ObstacleMotion::moves(const ParameterSet& set, int n) const { return goes(set, {names()[1], names()[2]}, n); }

bool goes(const ParameterSet& set, const std::array<std::string, 2>& rates, int n) {
  const auto is_zero = [](double value) { return value == 0.0; };
  for (const std::string& name : rates) {
    const Parameter* const rate = set.find(name);
    if (!rate) continue;
    const auto components = static_cast<std::size_t>(rate->field.components());
    const std::vector<double> all = rate->field.to_host();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rate->offset(n) * components);
    if (!std::all_of(begin, begin + static_cast<std::ptrdiff_t>(components), is_zero)) return true;
  }
  return false;
}

void place_obstacle(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n, double time,
                    const DeviceArray<double>& places) {
  move_all(motion, reference, rates_of(motion, set, n), time, places.data(), nullptr);
}

void obstacle_velocities(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n,
                         double time, const DeviceArray<double>& velocities) {
  move_all(motion, reference, rates_of(motion, set, n), time, nullptr, velocities.data());
}

void obstacle_tangents(const ObstacleMotion& motion, const double* reference, const ParameterSet& set,
                       const ParameterSet& direction, int n, double time, double dt, const DeviceArray<double>& dx,
                       const DeviceArray<double>& dv) {
  const Turn turn = motion.turn;
  const Rates rates = rates_of(motion, set, n), changes = rates_of(motion, direction, n);
  Kokkos::parallel_for(
      "diffsim::contact::obstacle_tangent", Range(motion.first, motion.last), KOKKOS_LAMBDA(int i) {
        Vec3<D> x, v;
        move_along(
            turn, reference + 3 * i, rates, changes, time, dt, [](const D& number, int) { return number; }, x, v);
        for (int c = 0; c < 3; ++c) {
          dx(3 * i + c) = x[c].derivative[0];
          dv(3 * i + c) = v[c].derivative[0];
        }
      });
  Kokkos::fence();
}

void add_obstacle_gradient(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                           const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                           const DeviceArray<double>& v_bar, const ParameterSet& set, int n, double time,
                           ParameterSet& gradient) {
  const auto names = motion.names();
  if (std::none_of(names.begin(), names.end(), [&](const auto& name) { return gradient.find(name) != nullptr; }))
    return;
  const MotionSums sums =
      sum_adjoints(motion, targets, obstacles_begin, x, x_bar, v_bar, rates_of(motion, set, n), time);
  for (std::size_t k = 0; k < 3; ++k) add_to(gradient, names[k], n, &sums.of[3 * k]);
}

void add_obstacle_gradient_tangent(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                                   const double* reference, const PairAdjointTangent& bar, const ParameterSet& set,
                                   const ParameterSet& direction, int n, double time, double dt,
                                   ParameterSet& gradient_tangent) {
  const auto names = motion.names();
  if (std::none_of(names.begin(), names.end(),
                   [&](const auto& name) { return gradient_tangent.find(name) != nullptr; }))
    return;
  const MotionSums sums = sum_adjoint_tangents(motion, targets, obstacles_begin, reference, bar,
                                               rates_of(motion, set, n), rates_of(motion, direction, n), time, dt);
  for (std::size_t k = 0; k < 3; ++k) add_to(gradient_tangent, names[k], n, &sums.of[3 * k]);
}

}  // namespace diffsim::contact
