// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns the triangle mesh of the boundary of a mesh of linear tetrahedra. The normals of the triangles point
/// outwards, and the triangles are in the order of the tetrahedra.
///
/// Vertices keep their numbers; interior vertices become vertices that belong to no cell. Regions of faces of
/// tetrahedra become regions of triangles, without the interior faces. Regions of vertices are unchanged, and regions
/// of tetrahedra become empty. Throws Error for second-order meshes. Collective.
MeshData boundary_mesh(MPI_Comm comm, MeshData data);

}  // namespace diffsim
