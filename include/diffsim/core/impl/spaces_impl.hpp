// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Execution space and memory space of kernels.

#include <Kokkos_Core.hpp>

#include "diffsim/core/config.hpp"

namespace diffsim {

#if defined(DIFFSIM_EXECUTION_SPACE_SERIAL)
using ExecutionSpace = Kokkos::Serial;
#elif defined(DIFFSIM_EXECUTION_SPACE_OPENMP)
using ExecutionSpace = Kokkos::OpenMP;
#elif defined(DIFFSIM_EXECUTION_SPACE_CUDA)
using ExecutionSpace = Kokkos::Cuda;
#else
using ExecutionSpace = Kokkos::DefaultExecutionSpace;
#endif

using MemorySpace = ExecutionSpace::memory_space;

using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
/// Iteration range for kernels with one iteration per thread; each iteration processes a chunk of the work.
using ThreadRange = Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;

}  // namespace diffsim
