// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// Subset of a rank's cells that a sweep processes. `shared`: cells with a vertex that another rank has too. `inner`:
/// the other cells, which can be processed while the sums of shared cells are being sent. `all`: both.
enum class CellPart { shared, inner, all };

}  // namespace diffsim
