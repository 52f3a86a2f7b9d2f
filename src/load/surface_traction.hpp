// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// Creates the force term of a uniform dead load t per rest area on the given faces. The force on vertex i is f_i = t
/// Σ_{faces at i} ∫ N_i dA, with the shape function N_i of the vertex and the integral over the face in the rest shape.
/// For a linear face, the integral of a shape function over the face is a third of the face's rest area.
///
/// The energy of the dead load is zero in the rest shape. The parameters of the force term are `rest_positions` and the
/// load t [steps, 3] (Pa), whose name is the argument `parameter`. The force term has no second derivatives with
/// respect to `rest_positions`.
std::unique_ptr<ForceTerm> make_surface_traction(const std::string& parameter, std::vector<Face> faces);

}  // namespace diffsim
