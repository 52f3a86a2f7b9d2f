// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// From now on PETSc's large arrays are in huge pages, too, as `advise_huge_pages` has it. What allocates and frees
/// them stays what it is. For a PETSc that is ours: others' is left alone.
void begin_petsc_huge_pages();
/// Before that PETSc ends.
void end_petsc_huge_pages();

}  // namespace diffsim
