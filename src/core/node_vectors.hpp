// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Copies `from` to `to` at the first `nodes` nodes. `from`, `to`: device addresses, [nodes, 3].
void copy_vectors(const double* from, double* to, std::size_t nodes);
/// Computes to += from at the first `nodes` nodes. `from`, `to`: device addresses, [nodes, 3].
void add_vectors(const double* from, double* to, std::size_t nodes);

}  // namespace diffsim
