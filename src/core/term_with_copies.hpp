// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Returns a force term that applies the force term `term` to arbitrary nodes of the mesh, including nodes of other
/// ranks that are not ghosts of this rank in the mesh. The local vertices of `term` are the nodes of `owned`, which
/// this rank owns, followed by copies of the nodes `copies` of other ranks. Parameters that have one value per vertex
/// have no values at these copies. Only `add_stiffness_bound` and `add_damping_bound` receive `rest_positions` with
/// values at the copies; other functions of `term` must not read `rest_positions`. Collective.
std::unique_ptr<ForceTerm> make_term_with_copies(std::unique_ptr<ForceTerm> term, const Entities& owned,
                                                 const std::vector<VertexLocation>& copies);

}  // namespace diffsim
