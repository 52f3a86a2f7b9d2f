// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "contact/turn.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim::contact {

/// Motion of an obstacle. A vertex with the reference position X has the position x and the velocity v at the time t:
///   x = o + R(a, ω t)(X - o) + p + t V,  v = V + ω a × R(a, ω t)(X - o).
/// R(a, φ) is the rotation by the angle φ about the unit vector a, the direction of the axis of rotation. o is a point
/// on the axis. Without an axis, x = X + p + t V and v = V. The displacement p (m), the velocity V (m/s) and the
/// angular velocity ω (rad/s) are the parameters `obstacle_position:LABEL`, `obstacle_velocity:LABEL` and
/// `obstacle_angular_velocity:LABEL`.
struct ObstacleMotion {
  std::string label;
  Turn turn;
  int first = 0, last = 0;  ///< the obstacle has the vertices `first` to `last` - 1 of the vertices of all obstacles

  std::array<std::string, 3> names() const;
  /// Returns true if the obstacle moves in step n.
  bool moves(const ParameterSet& set, int n) const;
};

// `place_obstacle`, `obstacle_velocities` and `obstacle_tangents` set the positions, the velocities and the tangents of
// one obstacle, in the rows `motion.first` to `motion.last` - 1 of arrays [vertices of all obstacles, 3]. `reference`
// contains the reference positions X in an array of the same shape. n is the number of the time step whose values of
// the parameters `set` are used.
void place_obstacle(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n, double time,
                    const DeviceArray<double>& places);
void obstacle_velocities(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n,
                         double time, const DeviceArray<double>& velocities);
/// Sets the derivatives dx of positions and dv of velocities along a direction of the inputs: `direction` is the
/// direction of the parameters, and `dt` the direction of `time` (not the length of a time step).
void obstacle_tangents(const ObstacleMotion& motion, const double* reference, const ParameterSet& set,
                       const ParameterSet& direction, int n, double time, double dt, const DeviceArray<double>& dx,
                       const DeviceArray<double>& dv);
/// Adds to `gradient` the derivatives with respect to the parameters of the motion, from the adjoints x_bar of
/// positions and v_bar of velocities, both [slots, 3], with one slot for each point of each active pair. v_bar is empty
/// if no force depends on velocities. `targets` [slots] are vertex indices in the order of PairView; vertices with
/// indices ≥ `obstacles_begin` belong to obstacles. `x` contains the positions of all vertices in the same order.
void add_obstacle_gradient(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                           const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                           const DeviceArray<double>& v_bar, const ParameterSet& set, int n, double time,
                           ParameterSet& gradient);

struct PairAdjointTangent;
/// Adds to `gradient_tangent` the directional derivatives of the values that `add_obstacle_gradient` adds. The
/// direction consists of `direction` for the parameters, `dt` for the time, and the directions of the adjoints in
/// `bar`. `reference` contains the reference positions X of all obstacle vertices.
void add_obstacle_gradient_tangent(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                                   const double* reference, const PairAdjointTangent& bar, const ParameterSet& set,
                                   const ParameterSet& direction, int n, double time, double dt,
                                   ParameterSet& gradient_tangent);

/// Returns true if one of the parameters `rates` is not zero in step n; a parameter that does not exist counts as zero.
bool goes(const ParameterSet& set, const std::array<std::string, 2>& rates, int n);
/// Device address of a parameter's entries for step n; nullptr if the parameter does not exist.
const double* address_of(const ParameterSet& set, const std::string& name, int n);
/// Adds `values` to the entries for step n of the parameter `name` in `gradient`. Does nothing if `gradient` does not
/// contain `name`.
void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values);

}  // namespace diffsim::contact
