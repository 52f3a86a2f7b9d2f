// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Makes a sensor of the acceleration (m/s²) of a region or a material point,
///
///   y = Σ_v w_v a_v,   a_vc = f_vc(x_n, v_n, p)/m_v + g_c for the free components c of vertex v, else 0,
///
/// where w_v are the weights of `weights_of`, x_n and v_n are the positions and velocities of state n, p are the
/// parameters, f is the sum of all force terms, m is the mass and g is gravity times the load factor. Parameters with
/// one value per step have the values of step n - 1, which computed state n; for n = 0, the values of step 0. A step of
/// implicit Euler solves M a = f + M g with a = (v_n - v_{n-1})/dt, so y is this difference quotient, up to the
/// tolerance of Newton's method. Friction is evaluated at the positions of state n, even if time steps evaluate
/// friction at the positions at the start of each step. The damping factor of explicit steps is not included.
///
/// Calls `System::prepare_if_changed`. Throws Error (input) for an empty region, for a point outside its body, and if
/// the acceleration of a vertex does not follow from the force on the vertex: for vertices of affine bodies in a system
/// with rigid bodies, and for vertices with fixed components in a system with prescribed motions. Collective.
std::unique_ptr<Sensor> make_acceleration(const Site& site, const SensorPlace& place);

}  // namespace diffsim::sensor
