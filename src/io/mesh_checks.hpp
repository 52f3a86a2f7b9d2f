// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Checks the cells and vertices of a mesh that is distributed in blocks of nearly equal size, and sets
/// `num_unused_vertices`. The checks are those of validate_cells() except the check of the regions, because the regions
/// are checked when they are read. Throws the same InputError on every rank; the message names the dataset and the cell
/// or vertex. Collective.
void validate_blocks(MPI_Comm comm, MeshData& mesh, const std::string& path, bool allow_coincident_vertices);

}  // namespace diffsim
