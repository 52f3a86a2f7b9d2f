// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// A director is a vector that is perpendicular to a segment and rotates with the segment's cross-section. The director
// and the segment's direction define the frame of the cross-section. Directors are stored as vertices of the mesh, so
// time steppers, ghost exchanges, linear systems and files treat directors like other vertices: a director has a mass,
// a force and a velocity. A director is a vector, not a position, and gravity does not act on directors. In the rest
// shape a director is as long as its segment, so the components of directors have the order of magnitude of
// coordinates.

/// Adds one director per segment to a mesh; the directors follow all other vertices, in the order of the segments.
///
/// If the vector `across` is given, each director has the direction of the component of `across` perpendicular to the
/// director's segment. If the vector `across` is not given, the first director of each line of connected segments has
/// the direction of a coordinate axis, projected onto the plane perpendicular to the line's first segment. Of the three
/// coordinate axes, the axis is projected that is most nearly perpendicular to the line's first segment. The other
/// directors of a line of segments are found by parallel transport of the line's first director, without twist. On a
/// closed line of segments, parallel transport once around the line ends at an angle to the first director;
/// add_directors() distributes this angle evenly over the segments.
///
/// Throws Error of kind `input` if more than two segments meet at a vertex, if the vector `across` is parallel to a
/// segment, or if `across` is not given and a line of segments reverses its direction at a vertex. `mesh` must be one
/// body whose cells are segments. Collective.
void add_directors(MPI_Comm comm, MeshData& mesh, const std::optional<std::array<double, 3>>& across = {});

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
