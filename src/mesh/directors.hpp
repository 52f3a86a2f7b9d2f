// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/mesh/construction.hpp"

namespace diffsim {

// A director is a vector that is perpendicular to a segment and rotates with the segment's cross-section. The director
// and the segment's direction define the frame of the cross-section. Directors are stored as vertices of the mesh, so
// time steppers, ghost exchanges, linear systems and files treat directors like other vertices: a director has a mass,
// a force and a velocity. A director is a vector, not a position, and gravity does not act on directors. In the rest
// shape a director is as long as its segment, so the components of directors have the order of magnitude of
// coordinates. `add_directors` (construction.hpp) adds directors to a mesh.

class TetrahedralMesh;

/// Rotates the directors stored in `positions` [local vertices, 3] (m) so that the directors follow their segments. The
/// current direction of a segment is computed from the positions of the segment's ends in `positions`. On entry, the
/// directors in `positions` must be the directors of the rest shape.
///
/// Each director is rotated by the smallest rotation that takes the rest direction of the director's segment to the
/// segment's direction in `positions`. Throws Error of kind `input` if a segment has reversed its direction, because
/// the smallest rotation between opposite directions is not unique. Collective.
void turn_directors(const TetrahedralMesh& mesh, std::vector<double>& positions);

}  // namespace diffsim
