// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Copies the vectors `from` at the first `nodes` nodes to the array `to`. `from`, `to`: device addresses of fields
/// [nodes, 3].
void copy_vectors(const double* from, double* to, std::size_t nodes);
/// Adds the vectors `from` at the first `nodes` nodes to the array `to`. `from`, `to`: device addresses of fields
/// [nodes, 3].
void add_vectors(const double* from, double* to, std::size_t nodes);

}  // namespace diffsim
