// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// Makes the term of a pressure p on linear faces as they move: -p A n/3 at each corner, with the area A and the normal
/// n that the corners' order gives. Its parameter, of the name given, is p [steps], Pa. The force has no energy where
/// the faces do not close.
std::unique_ptr<ForceTerm> make_surface_pressure(const std::string& parameter, const std::vector<Face>& faces);

/// Makes the term of the drag of moving air on linear faces, as on plates: ½ C A |u_n| u_n n/3 at each corner, with the
/// air's velocity u relative to the middle of the face and u_n = u·n; both sides feel it. Parameters, of the names
/// given: the air's velocity `wind` [steps, 3], m/s, and C `drag`, kg/m³, the density times the drag coefficient.
std::unique_ptr<ForceTerm> make_wind(const std::string& wind, const std::string& drag, const std::vector<Face>& faces);

}  // namespace diffsim
