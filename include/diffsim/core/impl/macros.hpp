// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/config.hpp"

// Attributes for pointwise functions that kernels call. This header does not include Kokkos. DIFFSIM_FUNCTION marks
// functions that are inlined. DIFFSIM_SHARED_FUNCTION marks long functions that are called rarely; such a function is
// compiled once for all kernels that call the function. DIFFSIM_INLINED marks lambdas that are inlined, and is written
// between the parameter list and the body. If DIFFSIM_CALLED_FUNCTIONS is defined, no function is forced inline.
// Sources whose speed does not matter define DIFFSIM_CALLED_FUNCTIONS.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DIFFSIM_FUNCTION __host__ __device__ inline
#define DIFFSIM_SHARED_FUNCTION __host__ __device__ __noinline__
#define DIFFSIM_INLINED
#elif defined(__SANITIZE_ADDRESS__) || defined(DIFFSIM_EMULATE_DEVICE) || defined(DIFFSIM_CALLED_FUNCTIONS)
// Functions are not forced inline. If functions were forced inline, compilers with sanitisers would need hours for a
// single function of many thousand lines. On an emulated device, speed does not matter.
#define DIFFSIM_FUNCTION inline
#define DIFFSIM_SHARED_FUNCTION
#define DIFFSIM_INLINED
#else
#define DIFFSIM_FUNCTION inline __attribute__((always_inline))
#define DIFFSIM_SHARED_FUNCTION __attribute__((noinline))
#define DIFFSIM_INLINED __attribute__((always_inline))
#endif
