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
// time steppers, exchanges, linear systems and files treat directors like other vertices: a director has a mass, a
// force and a velocity. A director is a vector, not a position, and gravity does not act on directors. In the rest
// shape a director is as long as its segment, so its components have the order of magnitude of coordinates.

/// Adds a director for each segment of a mesh, in the order of the segments, after all other vertices.
///
/// If `across` has a value, each director has the direction of the component of `across` perpendicular to the
/// director's segment. Otherwise the first director of each line of segments is a projection onto the plane
/// perpendicular to the first segment: that of the coordinate axis that is most nearly perpendicular to this segment.
/// The other directors of the line are found by parallel transport of the first director, without twist. On a closed
/// line, transport once around the line ends at an angle to the first director; this angle is distributed evenly over
/// the segments.
///
/// Throws Error of kind `input` if more than two segments meet at a vertex, if a line of segments reverses its
/// direction at a vertex, or if `across` is parallel to a segment. `mesh` must be one body whose cells are segments.
/// Collective.
void add_directors(MPI_Comm comm, MeshData& mesh, const std::optional<std::array<double, 3>>& across = {});

class TetrahedralMesh;

/// Rotates the directors stored in `positions` [local vertices, 3] (m) so that the directors follow their segments. The
/// directions of the segments follow from the positions of their ends in `positions`. On entry the directors must be
/// those of the rest shape.
///
/// Each director receives the smallest rotation that takes the rest direction of its segment to the direction in
/// `positions`. Throws Error of kind `input` if a segment has reversed its direction, because the rotation is then not
/// unique. Collective.
void turn_directors(const TetrahedralMesh& mesh, std::vector<double>& positions);

}  // namespace diffsim
