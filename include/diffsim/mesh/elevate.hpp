// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Makes a linear mesh second-order: a node at the middle of each edge, numbered after the V vertices there are, in the
/// lexicographic order of the edges' (smaller, larger) vertex numbers; so the numbers do not depend on the ranks.
///
/// The coordinates are then in even blocks; cells stay where they are. A node is in a region of curves (dimension 1) if
/// both ends of its edge are; nodes on cells and faces of regions need no mention. Each rank holds its share only.
/// Does nothing to a second-order mesh. Throws InputError for a linear mesh of several bodies. Collective.
void elevate(MPI_Comm comm, MeshData& mesh);

}  // namespace diffsim
