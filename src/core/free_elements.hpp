// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace diffsim {

/// Makes `values` empty and frees the memory of its elements. `values.clear()` and `values = {}` do not free the memory
/// of the elements.
template <class T>
void free_elements(std::vector<T>& values) {
  std::vector<T>().swap(values);
}

}  // namespace diffsim
