// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/dual.hpp"

namespace diffsim {

/// A number with its derivative along a direction.
DIFFSIM_FUNCTION Dual<double, 1> along(double value, double derivative) {
  Dual<double, 1> result(value);
  result.derivative[0] = derivative;
  return result;
}

}  // namespace diffsim
