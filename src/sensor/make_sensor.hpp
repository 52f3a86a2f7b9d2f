// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/cell_sensor.hpp"
#include "sensor/contact_sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Functions that make force terms from which sensors compute stresses, contact forces and contact pressures, without
/// adding the force terms to the system.
struct SensorTerms {
  MakeElasticTerms elastic;
  MakeContactTerms contact;
};

/// Makes the sensor that `spec` describes. Throws Error (input) if an option in `spec` does not apply to the quantity
/// that `spec` names, or if the quantity cannot be measured for the given region, point or pair of surfaces in contact.
/// Collective.
std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const SensorTerms& terms);

}  // namespace diffsim::sensor
