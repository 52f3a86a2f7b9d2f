// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Quantity of the masses m, positions x and velocities v of a region's vertices: centre of mass Σ m x / Σ m, momentum
/// Σ m v, angular momentum Σ m (x - o) × v about a point o, or kinetic energy ½ Σ m |v|².
enum class MassQuantity { center_of_mass, momentum, angular_momentum, kinetic_energy };

/// Makes a sensor of a MassQuantity, computed with the lumped masses of a region's vertices. Vertices that represent
/// directors of rods do not contribute to the MassQuantity. `about`: reference point (m) of the angular momentum. Calls
/// `System::prepare_if_changed`. Throws Error (input) if the quantity is the centre of mass and the region has no mass.
/// Collective.
std::unique_ptr<Sensor> make_mass_sensor(const Site& site, MassQuantity quantity, const Region& region,
                                         std::array<double, 3> about);

}  // namespace diffsim::sensor
