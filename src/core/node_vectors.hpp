// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Sets to = from, or adds from to `to`, at the first nodes: device addresses, [nodes, 3].
void copy_vectors(const double* from, double* to, std::size_t nodes);
void add_vectors(const double* from, double* to, std::size_t nodes);

}  // namespace diffsim
