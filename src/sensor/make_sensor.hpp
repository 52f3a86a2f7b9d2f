// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/cell_sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Makes a sensor. Throws Error (input) for an unknown type; the message suggests a similar type. Throws the same
/// Errors as the functions that make sensors of one type. Collective.
std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const MakeElasticTerms& elastic_terms);

}  // namespace diffsim::sensor
