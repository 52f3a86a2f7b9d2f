// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mesh/dual_graph.hpp"

namespace diffsim {

/// Partitions a graph into parts of nearly equal weight with Scotch. The whole graph is stored on this rank. `weights`:
/// weight of each cell; empty if all weights are 1. Returns the part, 0 … parts - 1, of each cell. Scotch runs on one
/// thread with its own random state, so equal graphs have equal parts. Serial.
std::vector<int> scotch_parts(DualGraph graph, const std::vector<PetscInt>& weights, int parts);

}  // namespace diffsim
