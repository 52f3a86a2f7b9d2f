// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Makes a sensor of the acceleration (m/s²) of a region or a material point,
///  y = Σ_v w_v a_v,   a_vc = f_vc(x_n, v_n, p)/m_v + g_c for the free components c of vertex v, else 0,
/// where w_v are the weights that `weights_of` returns, x_n and v_n are the positions and velocities of state n, and p
/// are the parameters. f_vc is component c of the sum of all force terms at vertex v, m_v is the mass of the vertex,
/// and g is gravity times the load factor (see ImplicitOptions::ramp_steps).
///
/// Parameters with one value per step have the values of step n - 1, the step from state n - 1 to state n; for state 0,
/// the values of step 0. A step of implicit Euler solves M (v_n - v_{n-1})/dt = f + M g with the masses M. With
/// implicit Euler, the sensor therefore returns the weighted mean of (v_n - v_{n-1})/dt over the vertices, up to the
/// tolerance of Newton's method. Friction is evaluated at the positions of state n, even if time steps evaluate
/// friction at the positions at the start of the step. The measured acceleration does not include the damping factor by
/// which explicit steps multiply velocities.
///
/// Calls `System::prepare_if_changed`. Throws Error (input) for an empty region, for a material point outside its body,
/// and if the acceleration of a vertex does not follow from the force on the vertex: for vertices of affine bodies in a
/// system with rigid bodies, and for vertices with fixed or moved components in a system with prescribed motions.
/// Collective.
std::unique_ptr<Sensor> make_acceleration(const Site& site, const SensorPlace& place);

}  // namespace diffsim::sensor
