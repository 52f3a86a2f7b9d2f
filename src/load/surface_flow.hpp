// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// Creates the force term of a follower pressure p on linear faces. The force on each corner of a face is -p A n/3,
/// with the pressure p, the current area A and the current unit normal n of the face; the order of the corners
/// determines the direction of n. The parameter with the name `parameter` is the pressure p [steps] (Pa).
///
/// The force of a follower pressure has no potential if the faces do not form a closed surface. Throws Error of kind
/// `input` for second-order faces.
std::unique_ptr<ForceTerm> make_surface_pressure(const std::string& parameter, const std::vector<Face>& faces);

/// Creates the force term of the drag of moving air on linear faces, which are modelled as plates. The force on each
/// corner of a face is ½ C A |u_n| u_n n/3, with the drag parameter C (kg/m³), and the current area A and unit normal n
/// of the face. The velocity u_n = u·n is the normal component of u, the air velocity relative to the centroid of the
/// face. Wind from either side of a face exerts a force on the face.
///
/// The arguments `wind` and `drag` are the names of two parameters: the air velocity [steps, 3] (m/s), and the product
/// C (kg/m³) of the air density and the drag coefficient of a plate. Throws Error of kind `input` for second-order
/// faces.
std::unique_ptr<ForceTerm> make_wind(const std::string& wind, const std::string& drag, const std::vector<Face>& faces);

}  // namespace diffsim
