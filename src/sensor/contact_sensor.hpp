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

/// Contact forces that a sensor measures: all forces, normal forces alone, or friction alone.
enum class ContactPart { all, normal, friction };

/// Contact terms between two surfaces, and the bodies on which a contact sensor measures forces. The contact terms are
/// not terms of the system. Each of the two surfaces consists of one or more bodies or obstacles, or of a region of a
/// body's surface.
struct ContactBetween {
  std::vector<std::unique_ptr<ForceTerm>> terms;  ///< contact terms, whose forces act on vertices of the system's mesh
  std::vector<char> vertices;  ///< [local vertices]: 1 for vertices of the bodies on which forces are measured, else 0
  /// 1 if forces are measured on bodies of the first of the two surfaces, -1 if forces are measured on bodies of the
  /// second surface.
  double sign = 1.0;
  /// True if the surface in contact is embedded in the mesh (`embed_surfaces`), false if it is the surface of the mesh.
  bool is_embedded = false;
};

/// Function that makes the contact terms between the two surfaces that the argument `between` names
/// (`SensorSpec::between`), without adding the terms to the system. Throws Error (input) if the scene has no contact
/// between the two surfaces. Collective.
using MakeContactTerms = std::function<ContactBetween(const std::array<std::string, 2>& between, ContactPart part)>;

/// Makes a sensor of the contact force F = s Σ_v f_v (N) that the second of two surfaces in contact exerts on the first
/// surface. f_v is the force of `contact.terms` on vertex v, the sum is over the vertices with `contact.vertices`[v] =
/// 1, and s = ±1 is `contact.sign`. `name`: name of the sensor. At state n, the sensor evaluates friction at the
/// positions of state n, even if time steps evaluate friction at the positions at the start of the step.
std::unique_ptr<Sensor> make_contact_force_sensor(const Site& site, ContactBetween contact, std::string name);

/// Makes a sensor of the contact pressure p = Σ_v (F_v²/A_v) / Σ_v F_v (Pa). F_v is the magnitude of the force of
/// `contact.terms` on vertex v, A_v is the rest area that the vertex represents, and the sums are over the vertices
/// with `contact.vertices`[v] = 1. The contact pressure p is the mean of the pressures F_v/A_v, weighted by F_v;
/// without contact, p = 0. Throws Error (input) if `contact.is_embedded` is true, and for bodies of segments or points.
/// Collective.
std::unique_ptr<Sensor> make_contact_pressure_sensor(const Site& site, ContactBetween contact, std::string name);

}  // namespace diffsim::sensor
