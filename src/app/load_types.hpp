// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim::app {

/// Coefficient of a load: a parameter of the load whose value is at least 0 and constant in time.
struct LoadCoefficient {
  std::string key;  ///< key of the coefficient in scenes, in the mapping that has the load's key
  ParameterSpec parameter;
  std::string meaning;  ///< description of the coefficient's value, for the error message if the key is missing
};

/// Type of loads on regions. Scenes contain loads on regions in the section `boundary`.
struct LoadType {
  /// Parameter of the load. The name of a load's parameter is the key of the load in scenes. The value of a load has
  /// `parameter.components` components; a load has one value that is constant in time, or one value for each step.
  ParameterSpec parameter;
  std::string meaning;  ///< description of the load's value in one step, such as "a number in Pa"
  std::vector<LoadCoefficient> coefficients = {};
  bool is_additive = true;  ///< true if the sum of two loads on a region is a load of this type
  /// Adds the load `entry` to the DifferentiableScene `solver`. `values`: the load's values, an array [components] or,
  /// for a load with a value for each step, [steps, components].
  void (*add)(DifferentiableScene& solver, const BoundaryEntry& entry, const std::vector<double>& values);

  std::string key() const { return std::string(parameter.name); }
  bool is_vector() const { return parameter.components == 3; }
  /// Returns true if `name` is the name of `parameter`, or of the parameter of one of the `coefficients`.
  bool has_parameter(const std::string& name) const;
};

/// Table of the types of loads on regions, in the order in which error messages list the keys of loads.
const std::vector<LoadType>& load_types();

/// Returns the ParameterSpecs of all types of loads and of all coefficients of loads, in the order of `load_types()`.
std::vector<ParameterSpec> specs_of_loads();

}  // namespace diffsim::app
