// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim::app {

/// Coefficient of a load, at least 0 and constant in time. The coefficient is a parameter of the load's region.
struct LoadCoefficient {
  std::string key;  ///< key of the coefficient, beside the key of the load
  ParameterSpec parameter;
  std::string meaning;  ///< description of the value, for the message if the key is missing
};

/// Type of loads on regions, which scenes give in the section `boundary`.
struct LoadType {
  /// Parameter of the load. Its name is the key of the load in scenes. A load has one value, with the components of the
  /// parameter, or one for each step.
  ParameterSpec parameter;
  std::string meaning;  ///< description of the value in one step, such as "a number in Pa"
  std::vector<LoadCoefficient> coefficients = {};
  bool is_additive = true;  ///< true if the sum of two loads on a region is a load of this type
  /// Adds the load `entry`. `values`: [components] or, for a load per step, [steps, components].
  void (*add)(DifferentiableScene& solver, const BoundaryEntry& entry, const std::vector<double>& values);

  std::string key() const { return std::string(parameter.name); }
  bool is_vector() const { return parameter.components == 3; }
  /// Returns true if `name` is the name of the load's parameter or of the parameter of one of the coefficients.
  bool has_parameter(const std::string& name) const;
};

/// Table of the types of loads on regions, in the order in which messages list the keys.
const std::vector<LoadType>& load_types();

/// Returns the parameters of all types of loads and of their coefficients, in the order of the table.
std::vector<ParameterSpec> specs_of_loads();

}  // namespace diffsim::app
