// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// Throws Error (input) if the fixed components do not prevent all rigid motions of the whole mesh, because a static
/// problem then has no unique solution. The message names the rigid motions that are not prevented. Rigid motions that
/// move no vertex, such as the rotation of a straight line about its own axis, are ignored. `fixed`: masks of the owned
/// vertices (System::fixed), device address. Collective.
void require_support(const TetrahedralMesh& mesh, const std::uint8_t* fixed);

}  // namespace diffsim::dynamics
