// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Part of the contact forces: all forces, normal forces alone, or friction alone.
enum class ContactPart { all, normal, friction };

/// Contact terms of two sides, which are not terms of the system, and the bodies on which forces are measured.
struct ContactBetween {
  std::vector<std::unique_ptr<ForceTerm>> terms;  ///< terms on the vertices of the system's mesh
  std::vector<char> vertices;  ///< [local vertices]: 1 for the vertices of the bodies on which forces are measured
  double sign = 1.0;           ///< 1 if these bodies are the first side, -1 if these bodies are the second side
  bool is_embedded = false;    ///< true if the surface in contact is not the surface of the system's mesh
};

/// Function that makes the contact terms of two sides (`SensorSpec::between`). The function does not add the terms to
/// the system. Throws Error (input) if the two sides cannot touch each other. Collective.
using MakeContactTerms = std::function<ContactBetween(const std::array<std::string, 2>& between, ContactPart part)>;

/// Makes a sensor of the contact force F = ± Σ_v f_v (N) that the second side exerts on the first side. f_v are the
/// forces of `contact.terms` at the vertices v in `contact.vertices`, and the sign is `contact.sign`. `name`: name of
/// the sensor. Friction is evaluated at the positions of state n, even if time steps evaluate friction at the positions
/// at the start of each step.
std::unique_ptr<Sensor> make_contact_force_sensor(const Site& site, ContactBetween contact, std::string name);

/// Makes a sensor of the contact pressure p = Σ_v (F_v²/A_v) / Σ_v F_v (Pa), with the lengths F_v of the forces of
/// `contact.terms` at the vertices v in `contact.vertices`, and the rest areas A_v of the vertices. p is the mean of
/// the pressures F_v/A_v, weighted by F_v, and 0 without contact. Throws Error (input) if the surface is embedded, and
/// for bodies of segments or points. Collective.
std::unique_ptr<Sensor> make_contact_pressure_sensor(const Site& site, ContactBetween contact, std::string name);

}  // namespace diffsim::sensor
