// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mesh/dual_graph.hpp"

namespace diffsim {

/// Partitions the graph of a mesh's cells into parts of nearly equal weight with Scotch. The whole graph `graph` is
/// stored on this rank. `weights`: weight of each cell; empty if all weights are 1. Returns the part number, 0 …
/// `parts` - 1, of each cell. Scotch runs on one thread with a random state that is independent of the rest of the
/// process, so calls with equal arguments return equal results. Serial.
std::vector<int> scotch_parts(DualGraph graph, const std::vector<PetscInt>& weights, int parts);

}  // namespace diffsim
