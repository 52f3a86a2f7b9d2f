// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

/// Returns true if a value of a parameter may have changed on any rank since `parameters.revision()` returned
/// `revision` on each rank. Collective.
inline bool changed_on_any_rank(const ParameterSet& parameters, std::uint64_t revision, MPI_Comm comm) {
  int changed = parameters.revision() != revision;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, comm));
  return changed != 0;
}

}  // namespace diffsim
