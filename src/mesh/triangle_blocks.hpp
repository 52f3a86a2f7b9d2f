// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Converts a triangle mesh to mesh data that is stored on the first rank. Every rank passes the whole triangle mesh.
/// No communication.
MeshData triangle_blocks(MPI_Comm comm, const TriangleMesh& mesh);

}  // namespace diffsim
