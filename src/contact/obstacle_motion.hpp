// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "diffsim/core/device.hpp"
#include "diffsim/core/parameters.hpp"
#include "turn.hpp"

namespace diffsim::contact {

/// How an obstacle moves: x = o + R(a, ω t)(X - o) + p + t V, of velocity V + ω a × R (X - o); without an axis a,
/// x = X + p + t V. p, V, ω are the parameters `obstacle_position`, `obstacle_velocity`, `obstacle_angular_velocity`,
/// each followed by `:LABEL`.
struct ObstacleMotion {
  std::string label;
  Turn turn;
  int first = 0, last = 0;  ///< vertices

  std::array<std::string, 3> names() const;
  /// Whether it goes anywhere in step n.
  bool moves(const ParameterSet& set, int n) const;
};

// Of vertices first..last, into [obstacle vertices, 3]. `reference`: X of all of them.
void place_obstacle(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n, double time,
                    const DeviceArray<double>& places);
void obstacle_velocities(const ObstacleMotion& motion, const double* reference, const ParameterSet& set, int n,
                         double time, const DeviceArray<double>& velocities);
/// Along `direction` and dt.
void obstacle_tangents(const ObstacleMotion& motion, const double* reference, const ParameterSet& set,
                       const ParameterSet& direction, int n, double time, double dt, const DeviceArray<double>& dx,
                       const DeviceArray<double>& dv);
/// Adds to `gradient` what its parameters get from adjoints of places and velocities, [slots, 3], v_bar empty for none;
/// `targets` [slots] are numbers of vertices, those of obstacles from `obstacles_begin` on, x their places.
void add_obstacle_gradient(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                           const DeviceArray<double>& x, const DeviceArray<double>& x_bar,
                           const DeviceArray<double>& v_bar, const ParameterSet& set, int n, double time,
                           ParameterSet& gradient);

struct PairAdjointTangent;
/// Adds the derivative of that along `direction`, dt and what `bar` has of the adjoints. `reference` as above.
void add_obstacle_gradient_tangent(const ObstacleMotion& motion, const DeviceArray<int>& targets, int obstacles_begin,
                                   const double* reference, const PairAdjointTangent& bar, const ParameterSet& set,
                                   const ParameterSet& direction, int n, double time, double dt,
                                   ParameterSet& gradient_tangent);

/// Whether one of these rates, if there are such parameters, is not zero in step n.
bool goes(const ParameterSet& set, const std::array<std::string, 2>& rates, int n);
/// Device address of the entries of step n; nullptr where there is no such parameter.
const double* address_of(const ParameterSet& set, const std::string& name, int n);
/// gradient[name] += values, if it is asked for.
void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values);

}  // namespace diffsim::contact
