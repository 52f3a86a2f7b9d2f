// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "contact/plane_contact.hpp"
#include "contact/plane_force.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::contact {

/// Returns a PlaneForce with the unit normal and the rotation of the plane `shape`, and with the default values of all
/// other members. Throws Error (input) for a normal of zero or non-finite length.
template <bool thick>
PlaneForce<thick> placed_plane(const PlaneShape& shape) {
  const double length = std::hypot(shape.normal[0], shape.normal[1], shape.normal[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("the normal of plane '" + shape.label + "' must be a finite non-zero vector that points to the body",
                ErrorKind::input);
  PlaneForce<thick> force{};
  force.normal = {{shape.normal[0] / length, shape.normal[1] / length, shape.normal[2] / length}};
  force.turn = Turn::about(shape.axis, shape.origin);
  return force;
}

}  // namespace diffsim::contact
