// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim::exodus {

/// Corners (0-based) of the sides 1 to 4 of a tetrahedron, in the order in which the Exodus format numbers the sides.
inline constexpr std::size_t sides[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 2, 1}};

/// Returns the ElementShape (dimension, number of corners, …) of the Exodus element type with the given name (in
/// capitals) and number of nodes, or nullptr if the type is unknown.
const ElementShape* find_shape(const std::string& type, std::size_t nodes);

}  // namespace diffsim::exodus
