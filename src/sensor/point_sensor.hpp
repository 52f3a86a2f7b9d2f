// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Quantity of a region or material point: position x, velocity v, displacement x - X from the rest position X, or the
/// distance |x_a - x_b| between two regions or points a and b. The position and the velocity of a region are means over
/// the region's vertices.
enum class PointQuantity { position, velocity, displacement, distance };

/// Makes a sensor of a PointQuantity of the region or point `place`. `other`: second region or point, if the quantity
/// is a distance. Throws Error (input) for an empty region, and for a material point outside its body. Collective.
std::unique_ptr<Sensor> make_point_sensor(const Site& site, PointQuantity quantity, const SensorPlace& place,
                                          const SensorPlace& other = {});

}  // namespace diffsim::sensor
