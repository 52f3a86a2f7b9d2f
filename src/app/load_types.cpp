// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/load_types.hpp"

#include <algorithm>

namespace diffsim::app {

// Types of loads, each in src/app/loads/KEY.cpp.
LoadType traction_load();
LoadType pressure_load();
LoadType wind_load();
LoadType moment_load();

const std::vector<LoadType>& load_types() {
  static const std::vector<LoadType> types{
      traction_load(),
      pressure_load(),
      wind_load(),
      moment_load(),
  };
  return types;
}

std::vector<ParameterSpec> specs_of_loads() {
  std::vector<ParameterSpec> specs;
  for (const LoadType& type : load_types()) {
    specs.push_back(type.parameter);
    for (const LoadCoefficient& coefficient : type.coefficients) specs.push_back(coefficient.parameter);
  }
  return specs;
}

bool LoadType::has_parameter(const std::string& name) const {
  return name == parameter.name || std::any_of(coefficients.begin(), coefficients.end(), [&](const auto& coefficient) {
           return name == coefficient.parameter.name;
         });
}

}  // namespace diffsim::app
