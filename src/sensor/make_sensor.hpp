// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Function that makes elastic terms of a region's tetrahedra, one for each material (`make_stress_sensor`).
using MakeElasticTerms = std::function<std::vector<std::unique_ptr<ForceTerm>>(const Region&)>;

/// Makes a sensor. Throws Error (input) for an unknown type; the message suggests a similar type. Throws the same
/// Errors as the functions that make sensors of one type. Collective.
std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms);

}  // namespace diffsim::sensor
