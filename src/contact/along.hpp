// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/device.hpp"
#include "diffsim/core/dual.hpp"

namespace diffsim::contact {

/// A number that moves along a direction.
KOKKOS_INLINE_FUNCTION Dual<double, 1> along(double value, double derivative) {
  Dual<double, 1> result(value);
  result.derivative[0] = derivative;
  return result;
}

}  // namespace diffsim::contact
