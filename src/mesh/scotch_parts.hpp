// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "dual_graph.hpp"

namespace diffsim {

/// The part, 0 … parts - 1, of each cell of a graph that one rank has whole, by Scotch on one thread and from a random
/// state of its own: equal graphs have equal parts. Serial.
std::vector<int> scotch_parts(DualGraph graph, int parts);

}  // namespace diffsim
