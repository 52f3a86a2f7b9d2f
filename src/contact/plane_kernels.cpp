// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "plane_kernels.hpp"

#include <cmath>

#include "along.hpp"
#include "diffsim/contact/barrier.hpp"
#include "diffsim/contact/friction.hpp"

namespace diffsim::contact {
namespace {

/// One vertex and the plane, at time `t`.
struct Point {
  Vec3<double> normal;
  Turn turn;
  bool friction;

  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> normal_at(const T* in, const T& t) const {
    if (turn.turns) return rotated(turn.axis, T(in[angular_velocity] * t), normal);
    return {{T(normal[0]), T(normal[1]), T(normal[2])}};
  }
  /// x - o - t V, o being the axis' point at t = 0; without a turn x - p - t V.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> way(const T* in, const T& t) const {
    Vec3<T> y;
    for (int c = 0; c < 3; ++c) {
      const T begin = turn.turns ? T(turn.origin[c]) : in[obstacle_position + c];
      y[c] = in[position + c] - begin - t * in[obstacle_velocity + c];
    }
    return y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T height(const T* in, const T& t) const {
    const Vec3<T> n = normal_at(in, t), y = way(in, t);
    T h = T(0.0);
    for (int c = 0; c < 3; ++c) h = h + n[c] * y[c];
    // The plane's distance from the axis does not turn.
    if (turn.turns)
      for (int c = 0; c < 3; ++c) h = h - normal[c] * (in[obstacle_position + c] - turn.origin[c]);
    return h;
  }
  /// The vertex's velocity as seen from the plane.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> relative_velocity(const T* in, const T& t) const {
    Vec3<T> u;
    for (int c = 0; c < 3; ++c) u[c] = in[velocity + c] - in[obstacle_velocity + c];
    if (!turn.turns) return u;
    const Vec3<T> side = cross_axis(turn.axis, way(in, t));
    for (int c = 0; c < 3; ++c) u[c] = u[c] - in[angular_velocity] * side[c];
    return u;
  }
  /// The force; zero at d̂ and beyond.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> force(const T* in, const T& t) const {
    const T h = height(in, t);
    // N = -κ w ∂ψ/∂φ = -2 κ w φ b'(y)/d̂
    const T y = h * h / (in[range] * in[range]);
    const T push = -2.0 * in[area] * in[stiffness] * h * barrier_gradient(y) / in[range];
    const Vec3<T> n = normal_at(in, t);
    Vec3<T> f;
    for (int c = 0; c < 3; ++c) f[c] = n[c] * push;
    if (!friction) return f;
    Vec3<T> u = relative_velocity(in, t);
    T along = T(0.0), squared = T(0.0);
    for (int c = 0; c < 3; ++c) along = along + n[c] * u[c];
    for (int c = 0; c < 3; ++c) {
      u[c] = u[c] - n[c] * along;
      squared = squared + u[c] * u[c];
    }
    const T factor = in[mu] * push * friction_factor(squared, in[epsilon]);
    for (int c = 0; c < 3; ++c) f[c] = f[c] - factor * u[c];
    return f;
  }
};

KOKKOS_INLINE_FUNCTION Point point_of(const PlaneSweep& sweep) {
  return {sweep.normal, sweep.turn, sweep.friction && sweep.v != nullptr};
}

KOKKOS_INLINE_FUNCTION void read(const PlaneSweep& sweep, int i, double* in) {
  for (int c = 0; c < 3; ++c) {
    in[position + c] = sweep.x[3 * sweep.vertices(i) + c];
    in[velocity + c] = sweep.v ? sweep.v[3 * sweep.vertices(i) + c] : 0.0;
  }
  for (int k = obstacle_position; k < area; ++k) in[k] = sweep.globals.input(k);
  in[area] = sweep.areas(i);
}

/// Whether vertex i is pushed; `in` is read.
KOKKOS_INLINE_FUNCTION bool active(const PlaneSweep& sweep, int i, double* in) {
  read(sweep, i, in);
  const double h = point_of(sweep).height(in, sweep.time);
  return h > 0.0 && h < in[range];
}

/// Input k of vertex i along a direction.
KOKKOS_INLINE_FUNCTION double change(const PlaneTangent& tangent, int vertex, int i, int k) {
  if (k < velocity) return tangent.dx[3 * vertex + k];
  if (k < obstacle_position) return tangent.dv ? tangent.dv[3 * vertex + k - velocity] : 0.0;
  if (k < area) return tangent.globals.input(k);
  return tangent.areas.size() > 0 ? tangent.areas(i) : 0.0;
}

/// The sum of value(point, in) over the vertices that are pushed.
template <class Value>
double sum_over(const char* label, const PlaneSweep& sweep, const Value& value) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      label, sweep.all(),
      KOKKOS_LAMBDA(int i, double& s) {
        double in[num_plane_inputs];
        if (active(sweep, i, in)) s += value(point_of(sweep), in);
      },
      sum);
  return sum;
}

struct Energy {
  double time;
  KOKKOS_INLINE_FUNCTION double operator()(const Point& point, const double* in) const {
    const double h = point.height(in, time);
    return in[stiffness] * in[area] * Barrier(h * h, in[range]).value;
  }
};

/// Friction's force is the difference that velocities make.
struct FrictionPower {
  double time;
  KOKKOS_INLINE_FUNCTION double operator()(Point point, const double* in) const {
    const Vec3<double> with = point.force(in, time), u = point.relative_velocity(in, time);
    point.friction = false;
    return dot(point.force(in, time) - with, u);
  }
};

}  // namespace

void plane_heights(const PlaneSweep& sweep, const DeviceArray<double>& heights) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_heights", sweep.all(), KOKKOS_LAMBDA(int i) {
        double in[num_plane_inputs];
        read(sweep, i, in);
        heights(i) = point_of(sweep).height(in, sweep.time);
      });
}

void plane_bends(const PlaneSweep& from, const PlaneSweep& to, const DeviceArray<double>& bends) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_bends", from.all(), KOKKOS_LAMBDA(int i) {
        double in[num_plane_inputs];
        read(from, i, in);
        const Vec3<double> begin = point_of(from).way(in, from.time);
        read(to, i, in);
        const Vec3<double> end = point_of(to).way(in, to.time);
        const double angle = std::abs(in[angular_velocity] * (to.time - from.time));
        const double reach = std::sqrt(std::fmax(dot(begin, begin), dot(end, end)));
        bends(i) = angle * angle * reach + 2.0 * angle * std::sqrt(dot(end - begin, end - begin));
      });
}

double plane_energy(const PlaneSweep& sweep) {
  return sum_over("diffsim::contact::plane_energy", sweep, Energy{sweep.time});
}

double plane_friction_power(const PlaneSweep& sweep) {
  return sum_over("diffsim::contact::plane_friction_power", sweep, FrictionPower{sweep.time});
}

void add_plane_forces(const PlaneSweep& sweep, double* f) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_force", sweep.all(), KOKKOS_LAMBDA(int i) {
        double in[num_plane_inputs];
        if (!active(sweep, i, in)) return;
        const Vec3<double> force = point_of(sweep).force(in, sweep.time);
        for (int c = 0; c < 3; ++c) f[3 * sweep.vertices(i) + c] += force[c];
      });
  Kokkos::fence();
}

void add_plane_tangents(const PlaneSweep& sweep, const PlaneTangent& tangent, double* df) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_tangent", sweep.all(), KOKKOS_LAMBDA(int i) {
        using Scalar = Dual<double, 1>;
        double in[num_plane_inputs];
        if (!active(sweep, i, in)) return;
        Scalar seeded[num_plane_inputs];
        const int vertex = sweep.vertices(i);
        for (int k = 0; k < num_plane_inputs; ++k) seeded[k] = along(in[k], change(tangent, vertex, i, k));
        const Vec3<Scalar> force = point_of(sweep).force(seeded, along(sweep.time, tangent.dt));
        for (int c = 0; c < 3; ++c) df[3 * vertex + c] += force[c].derivative[0];
      });
  Kokkos::fence();
}

PlaneSums add_plane_adjoints(const PlaneSweep& sweep, const double* w, double* x_bar, double* v_bar, double* area_bar) {
  PlaneSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_adjoint", sweep.all(),
      KOKKOS_LAMBDA(int i, PlaneSums& s) {
        using Scalar = Dual<double, num_plane_inputs>;
        double in[num_plane_inputs];
        if (!active(sweep, i, in)) return;
        Scalar seeded[num_plane_inputs];
        for (int k = 0; k < num_plane_inputs; ++k) seeded[k] = Scalar::variable(in[k], k);
        const Vec3<Scalar> force = point_of(sweep).force(seeded, Scalar(sweep.time));
        const int at = 3 * sweep.vertices(i);
        const Scalar product = w[at] * force[0] + w[at + 1] * force[1] + w[at + 2] * force[2];
        for (int c = 0; c < 3; ++c) {
          x_bar[at + c] += product.derivative[position + c];
          if (v_bar) v_bar[at + c] += product.derivative[velocity + c];
        }
        if (area_bar) area_bar[at] += product.derivative[area];
        for (int k = obstacle_position; k < area; ++k) s.of[k - obstacle_position] += product.derivative[k];
      },
      sums);
  return sums;
}

PlaneSums add_plane_adjoint_tangents(const PlaneSweep& sweep, const PlaneTangent& tangent, const double* w,
                                     const double* dw, double* x_bar, double* v_bar) {
  PlaneSums sums;
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_adjoint_tangent", sweep.all(),
      KOKKOS_LAMBDA(int i, PlaneSums& s) {
        using Scalar = Dual<Dual<double, 1>, num_plane_inputs>;
        double in[num_plane_inputs];
        if (!active(sweep, i, in)) return;
        Scalar seeded[num_plane_inputs];
        const int vertex = sweep.vertices(i), at = 3 * vertex;
        for (int k = 0; k < num_plane_inputs; ++k)
          seeded[k] = Scalar::variable(along(in[k], change(tangent, vertex, i, k)), k);
        const Vec3<Scalar> force = point_of(sweep).force(seeded, Scalar::constant(along(sweep.time, tangent.dt)));
        Scalar product(0.0);
        for (int c = 0; c < 3; ++c)
          product = product + Scalar::constant(along(w ? w[at + c] : 0.0, dw ? dw[at + c] : 0.0)) * force[c];
        for (int c = 0; c < 3; ++c) {
          x_bar[at + c] += product.derivative[position + c].derivative[0];
          if (v_bar) v_bar[at + c] += product.derivative[velocity + c].derivative[0];
        }
        for (int k = obstacle_position; k < area; ++k)
          s.of[k - obstacle_position] += product.derivative[k].derivative[0];
      },
      sums);
  return sums;
}

void add_plane_blocks(const PlaneSweep& sweep, const JacobianWeights& weights, const DeviceArray<int>& blocks,
                      double* values) {
  Kokkos::parallel_for(
      "diffsim::contact::plane_jacobian", sweep.all(), KOKKOS_LAMBDA(int i) {
        using Scalar = Dual<double, 6>;
        double in[num_plane_inputs];
        if (!active(sweep, i, in)) return;
        Scalar seeded[num_plane_inputs];
        for (int k = 0; k < num_plane_inputs; ++k) seeded[k] = k < 6 ? Scalar::variable(in[k], k) : Scalar(in[k]);
        const Point point = point_of(sweep);
        Point smooth = point;
        smooth.friction = point.friction && !weights.project;
        const Scalar time(sweep.time);
        const Vec3<Scalar> by_position = smooth.force(seeded, time), by_velocity = point.force(seeded, time);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            values[9 * blocks(i) + 3 * r + c] += weights.position * by_position[r].derivative[position + c] +
                                                 weights.velocity * by_velocity[r].derivative[velocity + c];
      });
  Kokkos::fence();
}

}  // namespace diffsim::contact
