// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/point_map.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Returns a force term that applies `term` to arbitrary nodes of the whole mesh, for forces between nodes that no cell
/// of the mesh connects. The local vertices of `term` are the nodes of `owned`, which this rank owns, followed by
/// `copies` of other ranks' nodes. Parameters of `term` may have values on owned vertices. Only the bounds of `term`
/// may depend on `rest_positions`, whose values at the copies are set for the bounds alone. Collective.
std::unique_ptr<ForceTerm> make_term_with_copies(std::unique_ptr<ForceTerm> term, const Entities& owned,
                                                 const std::vector<VertexLocation>& copies);

}  // namespace diffsim
