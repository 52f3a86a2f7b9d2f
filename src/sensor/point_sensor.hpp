// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Quantity of a place: its position x, velocity v or displacement x - X (X: rest position), or the distance |x_a -
/// x_b| of two places a and b.
enum class PointQuantity { position, velocity, displacement, distance };

/// Makes a sensor of a quantity of a place (`weights_of`). Throws the same Errors as `weights_of`. Collective.
std::unique_ptr<Sensor> make_point_sensor(const Site& site, PointQuantity quantity, const SensorPlace& place,
                                          const SensorPlace& other = {});

}  // namespace diffsim::sensor
