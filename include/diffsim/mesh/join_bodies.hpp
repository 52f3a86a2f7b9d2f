// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Named body with this rank's block of its mesh.
struct NamedMesh {
  std::string name;
  MeshData data;
};

/// Joins several bodies to one mesh, distributed in even blocks. The vertices and cells are in the order of the bodies,
/// and within a body in the body's own order. Region R of a body is called BODY/R.
///
/// Throws InputError if there is no body; if a name is empty, used twice, `all`, or contains one of the separators `/`,
/// `|` and `:`; and if the tetrahedra of the bodies differ in order. Collective.
MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies);

}  // namespace diffsim
