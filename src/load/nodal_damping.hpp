// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Creates the force term of mass-proportional (Rayleigh) damping and linear drag: the force on vertex i is f_i = -d_i
/// v_i, with the velocity v_i of the vertex and the damping coefficient d_i (N s/m).
///
/// The damping coefficient of vertex i is d_i = Σ_e s_ei (α_e ρ_e + c_e) V_e, a sum over the tetrahedra e at the
/// vertex. The values α_e, ρ_e and c_e are the parameters `rayleigh_damping`, `density` and `drag` of tetrahedron e,
/// V_e is the rest volume that tetrahedron e represents, and s_ei is the fraction of V_e that is lumped to vertex i
/// (see Lumping). The parameter `rayleigh_damping` [cells] (1/s) must be ≥ 0 (Rayleigh 1877, The Theory of Sound,
/// §102). The parameter `drag` [cells] (N s/m⁴), the drag force per rest volume and velocity, must be ≥ 0. The damping
/// coefficients depend on the parameter `rest_positions` through the rest volumes of the tetrahedra. The force term has
/// no second derivatives with respect to `rest_positions`.
std::unique_ptr<ForceTerm> make_nodal_damping(const TetrahedralMesh& mesh);

}  // namespace diffsim
