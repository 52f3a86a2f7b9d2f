// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Creates the force term of mass-proportional (Rayleigh) damping and linear drag, lumped to the vertices:
///
///   f_i = -d_i v_i,   d_i = Σ_{cells e at i} s_ei (α ρ + c) V_e
///
/// | parameter (cell)   | symbol | unit    | range                                             |
/// |--------------------|--------|---------|---------------------------------------------------|
/// | rayleigh_damping   | α      | 1/s     | ≥ 0 (Rayleigh 1877, The Theory of Sound, §102)    |
/// | drag               | c      | N s/m⁴  | ≥ 0: force per rest volume and velocity           |
///
/// f_i is the force on vertex i, and v_i the velocity of the vertex. V_e is the rest volume of cell e, and s_ei is the
/// fraction of V_e that is lumped to vertex i (see Lumping). The term also depends on the parameters `density` (ρ) and
/// `rest_positions`. The term has no second derivatives with respect to `rest_positions`.
std::unique_ptr<ForceTerm> make_nodal_damping(const TetrahedralMesh& mesh);

}  // namespace diffsim
