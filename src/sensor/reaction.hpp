// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Makes a sensor of the reaction R of a region, which is the force (N) that fixes or moves the region's vertices,
///  R = Σ_v R_v,   R_vc = -(f_vc(x_n, v_n, p) + m_v g_c) for the fixed or moved components c of vertex v, else 0,
/// where x_n and v_n are the positions and velocities of state n, and p are the parameters. f_vc is component c of the
/// sum of all force terms at vertex v, m_v is the mass of the vertex, and g is gravity times the load factor (see
/// ImplicitOptions::ramp_steps). If the point `about` is given, the sensor measures the moment Σ_v (x_v - about) × R_v
/// (N m), with the positions x_v of the vertices, instead of the reaction.
///
/// Parameters with one value per step, such as loads, have the values of step n - 1, the step from state n - 1 to state
/// n; for state 0, the values of step 0. Friction is evaluated at the positions of state n, even if time steps evaluate
/// friction at the positions at the start of the step. The reaction does not include the inertial forces m_v a_v of
/// vertices v with prescribed motions. Vertices of obstacles have no mass and count as fixed, so the reaction of an
/// obstacle is minus the sum of the contact forces on the obstacle.
///
/// Calls `System::prepare_if_changed`. Throws Error (input) if no component of the positions of the region's vertices
/// is fixed or moved. Collective.
std::unique_ptr<Sensor> make_reaction(const Site& site, const Region& region,
                                      std::optional<std::array<double, 3>> about = {});

/// Returns the reactions R_v of this rank's owned vertices, as defined for `make_reaction`, [owned vertices, 3] (N).
/// Calls `System::prepare_if_changed`. Collective.
std::vector<double> vertex_reactions(const Site& site, int n, const State& state);

}  // namespace diffsim::sensor
