// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "diffsim/dynamics/system.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// Returns the masks of fixed components of the owned vertices (`System::fixed`), in host memory.
std::vector<std::uint8_t> fixed_on_host(const System& system);
/// Throws Error (input) if the fixed components do not prevent all rigid motions of the whole mesh: a static problem of
/// a body that can move rigidly has no unique solution. The message of the Error names the rigid motions that the fixed
/// components do not prevent. Rigid motions that move no vertex, such as the rotation of a straight line about its own
/// axis, need not be prevented by fixed components. `fixed`: device address of the masks of fixed components of the
/// owned vertices (System::fixed). Collective.
void require_support(const TetrahedralMesh& mesh, const std::uint8_t* fixed);

}  // namespace diffsim::dynamics
