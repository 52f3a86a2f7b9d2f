// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "raw_mesh_builder.hpp"

namespace diffsim::exodus {

/// Corners of a tetrahedron's sides 1 to 4.
inline constexpr std::size_t sides[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 2, 1}};

/// Shape of the elements of a type, by its name in capitals and their number of nodes; null for one that is not known.
const ElementShape* find_shape(const std::string& type, std::size_t nodes);

}  // namespace diffsim::exodus
