// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Declares that a function template is explicitly instantiated in a source of the library, so that other sources do not
// compile the template again. The macro expands to nothing in a compilation for a GPU, because device code is not
// linked across sources.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DIFFSIM_COMPILED_ELSEWHERE(...)
#else
#define DIFFSIM_COMPILED_ELSEWHERE(...) extern template __VA_ARGS__;
#endif
