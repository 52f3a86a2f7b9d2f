// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// Throws Error (input), naming the motions, where the fixed components leave a rigid motion of the whole mesh free: a
/// static problem has no unique solution then. Motions that move no vertex, as that of a straight line about itself, do
/// not count. `fixed`: bits of the owned vertices, device address. Collective.
void require_support(const TetrahedralMesh& mesh, const std::uint8_t* fixed);

}  // namespace diffsim::dynamics
