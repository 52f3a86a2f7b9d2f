// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Makes a sensor of the current volume ∫ det F dV (m³) of a region's tetrahedra. F is the deformation gradient. Throws
/// Error (input) if the region has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_volume_sensor(const Site& site, const Region& region);

/// Makes a sensor of the mean Green–Lagrange strain ∫ ½ (FᵀF - 1) dV / ∫ dV of a region's tetrahedra. Throws Error
/// (input) if the region has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_strain_sensor(const Site& site, const Region& region);

/// Makes a sensor of the mean Cauchy stress σ (Pa) of a region's tetrahedra,
///
///   σ = (1/v) ∫ P Fᵀ dV = -(1/v) Σ_a sym(f_a ⊗ x_a),
///
/// where v is the current volume of the region, P is the first Piola stress of the elastic laws, f_a are the elastic
/// forces of the region's tetrahedra alone, and x_a are the positions of the vertices. `terms`: elastic terms of the
/// region's tetrahedra, which are not terms of the system. Viscous stresses are not included. Throws Error (input) if
/// the region has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_stress_sensor(const Site& site, const Region& region,
                                           std::vector<std::unique_ptr<ForceTerm>> terms);

/// Makes a sensor of the work (J) of a region's tetrahedra,
///
///   W = ∫ P : ∇u dV = -Σ_a f_a · u_a,
///
/// with the displacement u = x - X, the first Piola stress P, and the elastic forces f_a as for the stress. In static
/// equilibrium, with fixed supports and dead loads F, the work of the whole mesh is the compliance Σ F · u. `terms` and
/// errors are as for the stress. Collective.
std::unique_ptr<Sensor> make_work_sensor(const Site& site, const Region& region,
                                         std::vector<std::unique_ptr<ForceTerm>> terms);

}  // namespace diffsim::sensor
