// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// A director is a vector across a segment that turns with the segment's cross-section; with the segment's direction it
// is the section's frame. Directors are vertices of the mesh, so that steppers, exchanges, linear systems and files
// treat them as any other: they have a mass, forces and a velocity, but no place and no weight. A director is as long
// as its segment at rest, so that its numbers are of the size of the others.

/// Gives each segment of a mesh a director, in the order of segments, after all other vertices.
///
/// `across`: the director is the part of this vector across the segment. Without it, the director of the first segment
/// of each line of segments is chosen, and the others follow without turning about the line; around a closed line what
/// is left at its end is spread evenly over the segments.
///
/// Throws Error (input) where more than two segments have a vertex, where the line turns back, and where `across` is
/// along a segment. `mesh` is one body, whose cells are segments. Collective.
void add_directors(MPI_Comm comm, MeshData& mesh, const std::optional<std::array<double, 3>>& across = {});

class TetrahedralMesh;

/// Turns the directors among `positions` [local vertices, 3], m, which are those of the rest shape, to where the other
/// positions are: each as its segment turns from rest, on the shortest way. InputError for a segment that has turned
/// round.
void turn_directors(const TetrahedralMesh& mesh, std::vector<double>& positions);

}  // namespace diffsim
