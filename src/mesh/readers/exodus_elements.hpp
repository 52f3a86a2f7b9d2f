// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim::exodus {

/// Corners of a tetrahedron's sides 1 to 4 in Exodus numbering.
inline constexpr std::size_t sides[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 2, 1}};

/// Shape of an element type, from the type's name in capitals and the number of nodes; null if the type is unknown.
const ElementShape* find_shape(const std::string& type, std::size_t nodes);

}  // namespace diffsim::exodus
