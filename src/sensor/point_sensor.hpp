// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Quantity of a region or material point: position x, velocity v or displacement x - X (X: rest position). `distance`:
/// the distance |x_a - x_b| between two regions or points a and b. Positions and velocities of a region are means over
/// the region's vertices.
enum class PointQuantity { position, velocity, displacement, distance };

/// Makes a sensor of a quantity of the region or point `place`. `other`: second region or point, for `distance`. Throws
/// Error (input) for an empty region and for a point outside its body. Collective.
std::unique_ptr<Sensor> make_point_sensor(const Site& site, PointQuantity quantity, const SensorPlace& place,
                                          const SensorPlace& other = {});

}  // namespace diffsim::sensor
