// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/config.hpp"

// Marks for pointwise functions that run inside kernels, without including Kokkos. A shared one is compiled once for
// all kernels that call it: for what is long and seldom run. Lambdas are marked between parameters and body. With
// DIFFSIM_CALLED_FUNCTIONS nothing is forced inline, for sources that are about values and not about speed.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DIFFSIM_FUNCTION __host__ __device__ inline
#define DIFFSIM_SHARED_FUNCTION __host__ __device__ __noinline__
#define DIFFSIM_INLINED
#elif defined(__SANITIZE_ADDRESS__) || defined(DIFFSIM_EMULATE_DEVICE) || defined(DIFFSIM_CALLED_FUNCTIONS)
// Sanitized code in one function of many thousand lines takes a compiler hours. An emulated device need not be fast.
#define DIFFSIM_FUNCTION inline
#define DIFFSIM_SHARED_FUNCTION
#define DIFFSIM_INLINED
#else
#define DIFFSIM_FUNCTION inline __attribute__((always_inline))
#define DIFFSIM_SHARED_FUNCTION __attribute__((noinline))
#define DIFFSIM_INLINED __attribute__((always_inline))
#endif
