// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// Makes the term of a uniform dead load t on the rest area of some faces: f_i = t Σ_{faces at i} ∫ N_i dA, a third of
/// the face's area for each corner of a linear one. Its energy is zero at rest. Its parameter, of the name given, is t
/// [steps, 3], Pa; it takes `rest_positions` too, by which there is no second derivative.
std::unique_ptr<ForceTerm> make_surface_traction(const std::string& parameter, std::vector<Face> faces);

}  // namespace diffsim
