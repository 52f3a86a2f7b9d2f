// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "contact/turn.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim::contact {

/// Motion of an obstacle: x = o + R(a, ω t)(X - o) + p + t V, with the velocity V + ω a × R (X - o); without an axis a,
/// x = X + p + t V. p, V, ω are the parameters `obstacle_position`, `obstacle_velocity`, `obstacle_angular_velocity`,
/// each followed by `:LABEL`.
struct ObstacleMotion {
  std::string label;
  Turn turn;
  int first = 0, last = 0;  ///< the vertices from `first` up to, but not including, `last`

  std::array<std::string, 3> names() const;
  /// Returns whether the obstacle moves in step n.
  bool moves(const ParameterSet& set, int n) const;
};

// The next three functions set the values of the vertices `motion.first` to `motion.last` - 1 in arrays
// [obstacle vertices, 3]. `reference` holds the reference positions X of all obstacle vertices.
void place_obstacle(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n, double time,
                    const DeviceArray<double>& places);
void obstacle_velocities(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n,
                         double time, const DeviceArray<double>& velocities);
/// Sets the tangents of positions and velocities along `direction` and dt.
void obstacle_tangents(const ObstacleMotion& motion, const double* reference, const ParameterSet& set,
                       const ParameterSet& direction, int n, double time, double dt, const DeviceArray<double>& dx,
                       const DeviceArray<double>& dv);
/// Adds to `gradient` the derivatives with respect to the parameters of the motion, from the adjoints x_bar of
/// positions and v_bar of velocities, both [slots, 3]. v_bar is empty if no force depends on velocities. `targets`
/// [slots] are vertex numbers; numbers ≥ `obstacles_begin` are those of obstacle vertices. x are the positions of all
/// vertices.
void add_obstacle_gradient(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                           const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                           const DeviceArray<double>& v_bar, const ParameterSet& set, int n, double time,
                           ParameterSet& gradient);

struct PairAdjointTangent;
/// Adds the derivatives of the values that `add_obstacle_gradient` adds. The derivatives are taken along `direction`,
/// dt, and the directions of the adjoints in `bar`. `reference` is X of all obstacle vertices.
void add_obstacle_gradient_tangent(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                                   const double* reference, const PairAdjointTangent& bar, const ParameterSet& set,
                                   const ParameterSet& direction, int n, double time, double dt,
                                   ParameterSet& gradient_tangent);

/// Returns whether one of the parameters `rates` is not zero in step n; a parameter that does not exist counts as zero.
bool goes(const ParameterSet& set, const std::array<std::string, 2>& rates, int n);
/// Device address of a parameter's entries of step n; nullptr if the parameter does not exist.
const double* address_of(const ParameterSet& set, const std::string& name, int n);
/// Adds `values` to the entries of step n of gradient[name], if this gradient is requested.
void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values);

}  // namespace diffsim::contact
