// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Marks for pointwise functions that run inside kernels, without including Kokkos.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DIFFSIM_FUNCTION __host__ __device__ inline
#else
#define DIFFSIM_FUNCTION inline __attribute__((always_inline))
#endif
