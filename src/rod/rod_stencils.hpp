// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/rod/rod_energies.hpp"

namespace diffsim::rod {

struct Stencils {
  std::vector<int> vertices;  ///< [stencils, 5], local; nodes as in RodJoint
  std::vector<int> segments;  ///< [stencils], local
};

/// Throws Error (input) where one of these segments of any rank has no director. Collective.
void require_directors(const TetrahedralMesh& mesh, const std::vector<int>& segments);

/// Local segments that have a director, ascending.
std::vector<int> segments_with_directors(const LowerCellSet& all);

/// Ends of segments and, `with_directors`, the director after those of each: [segments, 2 or 3], local.
std::vector<int> ends_of(const LowerCellSet& all, const std::vector<int>& segments, bool with_directors);

/// Joints of rods of one kind, each from those of its segments that have a share. A segment both ends of which are
/// held, and which has a neighbour beyond one of them, is a wall, and has no joints. At a vertex that is clamped and
/// has no wall, `Beyond::direction` stands for the segment that is missing.
Stencils joint_stencils(const LowerCellSet& all, const std::vector<int>& segments, Beyond beyond,
                        const HeldVertices& held);

}  // namespace diffsim::rod
