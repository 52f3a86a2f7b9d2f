// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// A body by its name, with the blocks of its mesh.
struct NamedMesh {
  std::string name;
  MeshData data;
};

/// One mesh of several bodies, in even blocks. Vertices, and cells, of the first body come first, each body's in its
/// own order; a body's region R is BODY/R. All bodies of a mesh have cells of one order.
///
/// Throws InputError where there is no body, for a name that is empty, is taken, is `all`, or has one of the characters
/// `/`, `|` and `:`, which separate names; and for bodies of different orders. Collective.
MeshData join_bodies(MPI_Comm comm, std::vector<NamedMesh> bodies);

}  // namespace diffsim
