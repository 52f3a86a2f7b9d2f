// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Triangles on the boundary of a mesh of linear tetrahedra, as a mesh of their own: normals outwards, in the order of
/// the tetrahedra.
///
/// Vertices keep their numbers; those inside are vertices that no cell has. Groups of faces become groups of triangles,
/// without the faces inside; groups of vertices stay, and those of tetrahedra are left empty. Throws Error for
/// second-order meshes. Collective.
MeshData boundary_mesh(MPI_Comm comm, MeshData data);

}  // namespace diffsim
