// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/parameters.hpp"

// Points and axes of joints, and ratios of joints that follow joints, as parameters.

namespace diffsim::body {

/// Scalar with the derivative along a direction.
using Along = Dual<double, 1>;
/// Scalar with the derivatives with respect to the six values of a placement. The type T of the value is double or
/// `Along`.
template <class T>
using ByPlacement = Dual<T, 6>;

/// Placement of a joint: the three components of `Joint::point`, then the three components of `Joint::axis`.
template <class T>
using PlacementOf = std::array<T, 6>;
using Placement = PlacementOf<double>;

/// Returns the placement that the members of `joint` give.
Placement placement_of(const Joint& joint);
/// Returns the placement of `joint` that the parameters `joint_point` and `joint_axis` in `set` give. A point or an
/// axis that `set` does not contain is taken from `otherwise`.
Placement read_placement(const ParameterSet& set, const Joint& joint, const Placement& otherwise);
/// Adds `sums` to those of the parameters `joint_point` and `joint_axis` of `joint` that `set` contains.
void add_to_placement(ParameterSet& set, const Joint& joint, const Placement& sums);
/// Returns true if `set` contains the point or the axis of `joint`.
bool has_placement(const ParameterSet& set, const Joint& joint);
/// Returns true if `set` contains the point, the axis or the ratio of any joint, on which the constraints of joints
/// depend.
bool has_placements(const ParameterSet& set);

/// Returns the value of the parameter `joint_ratio` of `joint` in `set`, or `otherwise` if `set` does not contain this
/// parameter.
double read_ratio(const ParameterSet& set, const Joint& joint, double otherwise);
/// Sets the units of the parameters `joint_ratio` of `joints` in `set`. If the joint that a joint follows is not in
/// `joints`, the unit of its parameter is not changed.
void set_units_of_ratios(const std::vector<Joint>& joints, ParameterSet& set);
/// Adds `sum` to the parameter `joint_ratio` of `joint` if `set` contains this parameter.
void add_to_ratio(ParameterSet& set, const Joint& joint, double sum);
/// Returns true if `set` contains the ratio of `joint`.
bool has_ratio(const ParameterSet& set, const Joint& joint);
/// Returns true if `set` contains the ratio of any joint.
bool has_ratios(const ParameterSet& set);

/// Returns `value` with the derivative `direction`.
inline Along move_along(double value, double direction) {
  Along along(value);
  along.derivative[0] = direction;
  return along;
}
/// Returns the placement `values` with the derivatives `direction`.
PlacementOf<Along> move_along(const Placement& values, const Placement& direction);
/// Returns the placement `values`, each of whose values is an independent variable.
template <class T>
PlacementOf<ByPlacement<T>> variables(const PlacementOf<T>& values) {
  PlacementOf<ByPlacement<T>> placement;
  for (std::size_t i = 0; i < 6; ++i) placement[i] = ByPlacement<T>::variable(values[i], static_cast<int>(i));
  return placement;
}

}  // namespace diffsim::body
