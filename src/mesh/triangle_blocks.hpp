// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Converts triangles, of which every rank passes the whole list, to a mesh stored on the first rank. No communication.
MeshData triangle_blocks(MPI_Comm comm, const TriangleMesh& mesh);

}  // namespace diffsim
