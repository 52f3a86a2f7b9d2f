// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/rod_energies.hpp"

namespace diffsim::rod {

/// Stencils of the joints between segments of a rod (`RodJoint`): the nodes of each stencil, and the segment whose
/// parameters the stencil uses.
struct Stencils {
  /// [stencils, 5]: nodes of each stencil as local vertex numbers, in the order of `RodJoint`.
  std::vector<int> vertices;
  std::vector<int> segments;  ///< [stencils]: local index of the first segment of each joint
};

/// Throws Error of kind `input` on every rank if a given segment on any rank has no director. `segments`: local indices
/// of the segments to check. Collective.
void require_directors(const TetrahedralMesh& mesh, const std::vector<int>& segments);

/// Returns the local indices of the segments that have a director, in ascending order. `all`: all segments of the mesh
/// on this rank.
std::vector<int> segments_with_directors(const LowerCellSet& all);

/// Returns an array [segments, 2 or 3] of local vertices: the two ends of each segment and, if `with_directors` is
/// true, the segment's director. `all`: all segments of the mesh on this rank; `segments`: local indices of the
/// segments in the array.
std::vector<int> ends_of(const LowerCellSet& all, const std::vector<int>& segments, bool with_directors);

/// Returns the stencils of the joints whose second segment has the kind `beyond`. A segment is the first segment of one
/// joint at each of its ends where the segment has a neighbour or the vertex is clamped. A segment that has a
/// neighbour, and both of whose ends have prescribed positions, is never the first segment of a joint. If such a
/// segment is the second segment of a joint, the joint has the kind `Beyond::wall`. A joint at a clamped end of the
/// first segment has the kind `Beyond::direction`, unless the joint has the kind `Beyond::wall`. `all`: all segments of
/// the mesh on this rank; `segments`: local indices of the rod's segments; `held`: vertices with prescribed positions,
/// and clamped vertices.
Stencils joint_stencils(const LowerCellSet& all, const std::vector<int>& segments, Beyond beyond,
                        const VertexConstraints& held);

}  // namespace diffsim::rod
