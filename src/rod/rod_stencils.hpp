// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/rod_energies.hpp"

namespace diffsim::rod {

/// Stencils of joints between segments (`RodJoint`): the nodes, and the segment whose parameters each stencil uses.
struct Stencils {
  std::vector<int> vertices;  ///< [stencils, 5], local vertices; nodes in the order of `RodJoint`
  std::vector<int> segments;  ///< [stencils], local segments
};

/// Throws Error (input) on every rank if any of the segments, on any rank, has no director. `segments`: local indices.
/// Collective.
void require_directors(const TetrahedralMesh& mesh, const std::vector<int>& segments);

/// Returns the local indices of the segments that have a director, in ascending order. `all`: all segments of the mesh
/// on this rank.
std::vector<int> segments_with_directors(const LowerCellSet& all);

/// Returns the local vertices of segments, [segments, 2 or 3]: the two ends and, if `with_directors`, the director.
/// `all`: all segments of the mesh on this rank; `segments`: local indices.
std::vector<int> ends_of(const LowerCellSet& all, const std::vector<int>& segments, bool with_directors);

/// Returns the stencils of the joints whose second segment is of kind `beyond`: one stencil for each segment and each
/// of its two ends at which the segment contributes energy to a joint. A segment is a wall if the positions of both of
/// its ends are prescribed (`held`) and the segment has at least one neighbour. A wall contributes no energy. At a
/// clamped vertex without a neighbouring wall, the kind is `Beyond::direction`. `all`: all segments of the mesh on this
/// rank; `segments`: local indices of the rod's segments.
Stencils joint_stencils(const LowerCellSet& all, const std::vector<int>& segments, Beyond beyond,
                        const VertexConstraints& held);

}  // namespace diffsim::rod
