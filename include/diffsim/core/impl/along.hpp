// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"

namespace diffsim {

/// Returns a Dual with the given value and the given derivative along one direction.
template <class T>
DIFFSIM_FUNCTION Dual<T, 1> along(const T& value, const T& derivative) {
  Dual<T, 1> result;
  result.value = value;
  result.derivative[0] = derivative;
  return result;
}

}  // namespace diffsim
