// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "sensor/cell_stress.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {

/// Returns the Error (input) for a region without an elastic law. `type`: name of the quantity that the sensor
/// measures.
inline Error without_law(const Region& region, const std::string& type) {
  return Error("no tetrahedron of region '" + region.name + "' has an elastic law, so the region has no " + type,
               ErrorKind::input);
}

/// Makes a sensor of the current volume ∫ det F dV (m³) of a region's tetrahedra, with the deformation gradient F.
/// Throws Error (input) if the region has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_volume_sensor(const Site& site, const Region& region);

/// Makes a sensor of the mean Green–Lagrange strain ∫ ½ (FᵀF - 1) dV / ∫ dV of a region's tetrahedra, with the
/// deformation gradient F. Throws Error (input) if the region has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_strain_sensor(const Site& site, const Region& region);

/// Makes a sensor of the mean Cauchy stress σ (Pa) of a region's tetrahedra,
///  σ = (1/v) ∫ P Fᵀ dV = -(1/v) Σ_a sym(f_a ⊗ x_a),
/// where v is the current volume of the region, P is the first Piola–Kirchhoff stress of the elastic laws, and F is the
/// deformation gradient. f_a are the elastic forces of the region's tetrahedra alone at the vertices a, and x_a are the
/// positions of the vertices. `terms`: elastic force terms of the tetrahedra of `region` alone, not added to the
/// System. The measured stress σ does not include viscous stresses. Throws Error (input) if the region has no
/// tetrahedra. Collective.
std::unique_ptr<Sensor> make_stress_sensor(const Site& site, const Region& region,
                                           std::vector<std::unique_ptr<ForceTerm>> terms);

/// Makes a sensor of the power mean M of the von Mises stresses (Pa) of a region's tetrahedra,
///  M = (Σ_e v_e σ_e^P / Σ_e v_e)^(1/P),   σ_e² = 3/2 dev σ : dev σ,
/// where v_e is the current volume and σ_e the von Mises stress of tetrahedron e, and P = `power` ≥ 2. The tensor σ is
/// the tetrahedron's mean Cauchy stress as in `make_stress_sensor`. As P grows, the power mean M tends to the largest
/// von Mises stress. Where all stresses are zero, for example in the rest shape, the power mean M has no derivatives,
/// and the sensor computes zeros in place of derivatives. Throws Error (input) if `power` is less than 2 or not finite,
/// or if no tetrahedron of the region has an elastic law. Collective.
std::unique_ptr<Sensor> make_von_mises_sensor(const Site& site, const Region& region, double power,
                                              const MakeElasticTerms& elastic_terms);

/// Makes a sensor of the work W (J) of the stresses in a region's tetrahedra,
///  W = ∫ P : ∇u dV = -Σ_a f_a · u_a,
/// with the displacement u = x - X (position x, rest position X), the first Piola–Kirchhoff stress P of the elastic
/// laws, and the elastic forces f_a of the region's tetrahedra alone at the vertices a of these tetrahedra. In static
/// equilibrium, with fixed supports and dead loads F, the work W of the whole mesh is the compliance Σ F · u. `terms`:
/// elastic force terms of the tetrahedra of `region` alone, not added to the System. Throws Error (input) if the region
/// has no tetrahedra. Collective.
std::unique_ptr<Sensor> make_work_sensor(const Site& site, const Region& region,
                                         std::vector<std::unique_ptr<ForceTerm>> terms);

}  // namespace diffsim::sensor
