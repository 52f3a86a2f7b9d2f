// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Converts a triangle mesh to MeshData whose vertices and triangles are stored on the first rank only. Every rank
/// passes the whole triangle mesh as an argument. No communication.
MeshData triangle_blocks(MPI_Comm comm, const TriangleMesh& mesh);

}  // namespace diffsim
