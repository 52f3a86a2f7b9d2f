// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Converts a linear mesh to second order by adding a node at the midpoint of each edge.
///
/// The new mid-edge nodes are numbered after the existing vertices, in lexicographic order of the edges' (smaller,
/// larger) vertex numbers, so the numbers of the nodes do not depend on the number of ranks. The coordinates are
/// redistributed so that all ranks have blocks of nearly equal size; the blocks of cells are unchanged. A new mid-edge
/// node belongs to a region of curves (dimension 1) if both ends of the node's edge belong to the region. If a cell or
/// a face belongs to a region, the mid-edge nodes of the cell or face also belong to the region;
/// `MeshData::vertex_regions` does not list these nodes. No rank stores the whole mesh. A second-order mesh is left
/// unchanged. Throws InputError for a linear mesh of several bodies. Collective.
void elevate(MPI_Comm comm, MeshData& mesh);

}  // namespace diffsim
