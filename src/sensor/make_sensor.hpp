// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/cell_sensor.hpp"
#include "sensor/contact_sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Functions that make force terms for sensors. The functions do not add the terms to the system.
struct SensorTerms {
  MakeElasticTerms elastic;
  MakeContactTerms contact;
};

/// Makes the sensor that `spec` describes. Throws Error (input) if the options in `spec` do not apply to the quantity,
/// and if the region, the point or the contact cannot be measured. Collective.
std::unique_ptr<Sensor> make_sensor(const Site& site, const SensorSpec& spec, const SensorTerms& terms);

}  // namespace diffsim::sensor
