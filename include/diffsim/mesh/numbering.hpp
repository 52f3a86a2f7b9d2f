// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Returns the 0-based number in the mesh file of each local vertex, [local vertices], owned vertices first.
std::vector<std::int64_t> vertex_numbers(const TetrahedralMesh& mesh);
/// Returns the 0-based number in the mesh file of each of this rank's tetrahedra, [cells].
std::vector<std::int64_t> cell_numbers(const TetrahedralMesh& mesh);

}  // namespace diffsim
