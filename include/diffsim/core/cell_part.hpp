// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// Which of a rank's cells a sweep is about: those with a vertex that another rank has too, the others, which can be
/// worked while the first ones' sums travel, or all.
enum class CellPart { shared, inner, all };

}  // namespace diffsim
