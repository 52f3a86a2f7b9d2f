// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/pack.hpp"

namespace diffsim {

#if !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(DIFFSIM_EMULATE_DEVICE)
template <>
const char LibraryIsCompiledForPacksOf<pack_width>::doubles = 0;
#endif

}  // namespace diffsim
