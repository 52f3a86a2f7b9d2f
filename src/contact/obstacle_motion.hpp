// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "contact/turn.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim::contact {

/// Motion of an obstacle. An obstacle's vertex with the reference position X has the position x and the velocity v at
/// the time t:
///   x = o + R(a, ω t)(X - o) + p + t V,  v = V + ω a × R(a, ω t)(X - o),
/// where R(a, φ) is the rotation by the angle φ about the unit vector a along the rotation axis, o is a point on the
/// rotation axis in the reference configuration, p (m) is a displacement, V (m/s) a velocity and ω (rad/s) an angular
/// velocity. Without a rotation axis, x = X + p + t V and v = V. The displacement p, the velocity V and the angular
/// velocity ω are the parameters `obstacle_position:LABEL`, `obstacle_velocity:LABEL` and
/// `obstacle_angular_velocity:LABEL` of the obstacle with the name LABEL.
struct ObstacleMotion {
  std::string label;
  Turn turn;
  int first = 0, last = 0;  ///< range [first, last) of the obstacle's vertices among the vertices of all obstacles

  std::array<std::string, 3> names() const;
  /// Returns true if the velocity V or the angular velocity ω of the obstacle is not zero in time step n.
  bool moves(const ParameterSet& set, int n) const;
};

// `place_obstacle` sets the positions of one obstacle's vertices, `obstacle_velocities` sets the velocities of these
// vertices, and `obstacle_tangents` sets directional derivatives of the positions and velocities. The values are set in
// the rows `motion.first` to `motion.last` - 1 of arrays [vertices of all obstacles, 3]. `reference` contains the
// reference positions X in an array of the same shape. `set` contains the parameters of the motion, whose values for
// time step n are used, and `time` is the time t (s).
void place_obstacle(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n, double time,
                    const DeviceArray<double>& places);
void obstacle_velocities(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n,
                         double time, const DeviceArray<double>& velocities);
/// Sets the derivatives `dx` of the positions and `dv` of the velocities of the obstacle's vertices along the change
/// `direction` of the parameters `set` and the change `dt` of the time `time`. The argument `dt` is not the length of a
/// time step.
void obstacle_tangents(const ObstacleMotion& motion, const double* reference, const ParameterSet& set,
                       const ParameterSet& direction, int n, double time, double dt, const DeviceArray<double>& dx,
                       const DeviceArray<double>& dv);
/// Adds to `gradient` the gradient with respect to the parameters of the obstacle's motion, computed from the adjoints
/// `x_bar` of positions and `v_bar` of velocities. The arrays `x_bar` and `v_bar` [slots, 3] have one row, called slot,
/// for each of the four points of each pair that exerts a force. Several slots may belong to one vertex; the adjoint of
/// the vertex is then the sum over these slots. The array `v_bar` is empty if no force depends on velocities. `targets`
/// [slots] is the vertex index of each slot, with the vertices numbered as in PairView; vertices with indices ≥
/// `obstacles_begin` belong to obstacles. The array `x` [vertices, 3] contains the positions of all vertices.
void add_obstacle_gradient(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                           const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                           const DeviceArray<double>& v_bar, const ParameterSet& set, int n, double time,
                           ParameterSet& gradient);

struct PairAdjointTangent;
/// Adds to `gradient_tangent` the derivatives of the gradient that `add_obstacle_gradient` computes, along the change
/// `direction` of the parameters, the change `dt` of the time, and the changes `bar.dx_bar` and `bar.dv_bar` of the
/// adjoints of the positions and the velocities. The argument `bar` contains the adjoints of the positions and the
/// velocities. The array `reference` contains the reference positions of all obstacle vertices.
void add_obstacle_gradient_tangent(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                                   const double* reference, const PairAdjointTangent& bar, const ParameterSet& set,
                                   const ParameterSet& direction, int n, double time, double dt,
                                   ParameterSet& gradient_tangent);

/// Returns true if at least one of the parameters with the names `rates` is not zero in time step n; a parameter that
/// does not exist counts as zero.
bool goes(const ParameterSet& set, const std::array<std::string, 2>& rates, int n);
/// Returns the device address of the values of the parameter `name` for time step n; nullptr if the parameter does not
/// exist.
const double* address_of(const ParameterSet& set, const std::string& name, int n);
/// Adds `values` to the gradient with respect to the value of the parameter `name` in time step n. Does nothing if
/// `gradient` does not contain the parameter `name`.
void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values);

}  // namespace diffsim::contact
