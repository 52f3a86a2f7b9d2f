// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/point_map.hpp"

namespace diffsim {

/// Makes a term on any nodes of the whole mesh of one on nodes that a rank has by itself: the term's local vertices are
/// `owned`, the nodes that the rank owns, then copies of others, `copies`. For forces between nodes that no cell of the
/// mesh joins. The term has an energy, no velocities and no parameters on vertices but `rest_positions` and those on
/// owned vertices. Collective.
std::unique_ptr<ForceTerm> make_term_with_copies(std::unique_ptr<ForceTerm> term, const Entities& owned,
                                                 const std::vector<VertexPlace>& copies);

}  // namespace diffsim
