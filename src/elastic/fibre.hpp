// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "core/scalar_traits.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Computes the unit vector `unit` = `direction` / |`direction`|.
template <class T>
DIFFSIM_FUNCTION void unit_fibre(const T* direction, T* unit) {
  using std::sqrt;
  const T scale =
      T(1.0) / sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
  for (int i = 0; i < 3; ++i) unit[i] = scale * direction[i];
}

/// Returns s a bᵀ.
template <class T>
DIFFSIM_FUNCTION Mat3<T> dyad(const T& s, const Vec3<T>& a, const Vec3<T>& b) {
  Mat3<T> c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c(i, j) = s * a[i] * b[j];
  return c;
}

}  // namespace diffsim
