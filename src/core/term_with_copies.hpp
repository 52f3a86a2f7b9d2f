// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Returns a term on arbitrary nodes of the whole mesh, made from `term`. `term` acts on a set of nodes that is
/// specific to this rank: its local vertices are `owned`, the nodes that the rank owns, followed by `copies` of other
/// ranks' nodes. Used for forces between nodes that no cell of the mesh connects. The only parameters of `term` on
/// vertices may be `rest_positions` and parameters on owned vertices. Collective.
std::unique_ptr<ForceTerm> make_term_with_copies(std::unique_ptr<ForceTerm> term, const Entities& owned,
                                                 const std::vector<VertexLocation>& copies);

}  // namespace diffsim
