// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Checks the cells and vertices of a mesh in evenly sized blocks, like validate_cells, and sets `num_unused_vertices`.
/// Regions are checked when they are read. Throws InputError naming the dataset and the cell or vertex, the same on
/// every rank. Collective.
void validate_blocks(MPI_Comm comm, MeshData& mesh, const std::string& path, bool allow_coincident_vertices);

}  // namespace diffsim
