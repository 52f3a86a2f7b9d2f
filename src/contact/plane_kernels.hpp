// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/device.hpp"
#include "diffsim/core/force_term.hpp"
#include "turn.hpp"

// The kernels of PlaneContact over the surface's vertices.

namespace diffsim::contact {

/// What the force on a vertex depends on.
enum PlaneInput {
  position = 0,
  velocity = 3,
  obstacle_position = 6,
  obstacle_velocity = 9,
  stiffness = 12,
  range,
  mu,
  epsilon,
  angular_velocity,
  area,
  num_plane_inputs
};

/// The parameters, from `obstacle_position` to `angular_velocity`: device addresses, nullptr where there is none
/// (zero).
struct PlaneGlobals {
  static constexpr int count = 7, values = area - obstacle_position;
  const double* of[count];

  /// Which of the values are those of parameter k.
  static constexpr int first(int k) { return k < 2 ? 3 * k : 4 + k; }
  KOKKOS_INLINE_FUNCTION double input(int k) const {
    if (k < stiffness) {
      const double* const vector = of[(k - obstacle_position) / 3];
      return vector ? vector[k % 3] : 0.0;
    }
    const double* const number = of[2 + k - stiffness];
    return number ? *number : 0.0;
  }
};

/// Sums over vertices of the adjoints of the parameters.
struct PlaneSums {
  double of[PlaneGlobals::values] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const PlaneSums& other) {
    for (int k = 0; k < PlaneGlobals::values; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile PlaneSums& other) volatile {
    for (int k = 0; k < PlaneGlobals::values; ++k) of[k] = of[k] + other.of[k];
  }
};

/// A configuration of the surface and the plane.
struct PlaneSweep {
  DeviceArray<int> vertices;
  DeviceArray<double> areas;
  Vec3<double> normal;  // at t = 0
  Turn turn;
  double time;
  bool friction;
  const double* x;
  const double* v;  // or nullptr
  PlaneGlobals globals;

  Range all() const { return Range(0, static_cast<int>(vertices.size())); }
};

/// A direction: of positions and, or nullptr, of velocities, of the parameters, of the time, and of areas [vertices] or
/// empty.
struct PlaneTangent {
  const double* dx;
  const double* dv;
  PlaneGlobals globals;
  double dt;
  DeviceArray<double> areas;
};

/// φ of each vertex.
void plane_heights(const PlaneSweep& sweep, const DeviceArray<double>& heights);
/// How much φ may bend, at most |φ''|, as the surface goes straight from one configuration to the other while the plane
/// turns, both in one unit of time: θ² |y| + 2 |θ| |y'|, y a vertex's way from the axis, θ the angle.
void plane_bends(const PlaneSweep& from, const PlaneSweep& to, const DeviceArray<double>& bends);
double plane_energy(const PlaneSweep& sweep);
/// -Σ f·u of friction, W.
double plane_friction_power(const PlaneSweep& sweep);
void add_plane_forces(const PlaneSweep& sweep, double* f);
void add_plane_tangents(const PlaneSweep& sweep, const PlaneTangent& tangent, double* df);
/// Gradients of w·f by all inputs; those of the parameters are summed, those of velocities and of areas (to the first
/// components of vertices) go where they are not nullptr.
PlaneSums add_plane_adjoints(const PlaneSweep& sweep, const double* w, double* x_bar, double* v_bar, double* area_bar);
/// The derivatives of what `add_plane_adjoints` adds and sums along `tangent` and dw; w, dw or nullptr: zero.
PlaneSums add_plane_adjoint_tangents(const PlaneSweep& sweep, const PlaneTangent& tangent, const double* w,
                                     const double* dw, double* x_bar, double* v_bar);
/// a ∂f/∂x + b ∂f/∂v at each vertex's diagonal block. Projected, the derivative of friction by the position, which is
/// not symmetric, is left out; the rest is semidefinite, the barrier being convex in the height.
void add_plane_blocks(const PlaneSweep& sweep, const JacobianWeights& weights, const DeviceArray<int>& blocks,
                      double* values);

}  // namespace diffsim::contact
