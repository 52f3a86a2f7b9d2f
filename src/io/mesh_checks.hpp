// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Checks the cells and vertices of a mesh that is distributed over the ranks in blocks of nearly equal size, and sets
/// `mesh.num_unused_vertices`. validate_blocks() makes the same checks as validate_cells() except the check of the
/// regions, because regions are checked when the regions are read. Throws the same InputError on every rank if the mesh
/// is invalid; the error message names the dataset and the invalid cell or vertex. Collective.
void validate_blocks(MPI_Comm comm, MeshData& mesh, const std::string& path, bool allow_coincident_vertices);

}  // namespace diffsim
