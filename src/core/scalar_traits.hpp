// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/point_gradient.hpp"

namespace diffsim {

/// Traits of the scalar types of automatic differentiation. `Base`: type of the innermost value of a scalar, double or
/// Pack. `order`: highest order of derivatives that the type contains (0 for double and Pack, 1 for Dual and
/// PointGradient, 2 for Dual of Dual). `scaled`: product of a scalar and a Base value, computed with fewer operations
/// than a product of two scalars.
template <class T>
struct ScalarTraits {
  using Base = T;
  static constexpr int order = 0;
  static DIFFSIM_FUNCTION Base base(const T& x) { return x; }
  static DIFFSIM_FUNCTION T constant(const Base& x) { return x; }
  static DIFFSIM_FUNCTION T scaled(const T& x, const Base& factor) { return x * factor; }
};

template <class T, int N>
struct ScalarTraits<Dual<T, N>> {
  using Base = typename ScalarTraits<T>::Base;
  static constexpr int order = ScalarTraits<T>::order + 1;
  static DIFFSIM_FUNCTION Base base(const Dual<T, N>& x) { return ScalarTraits<T>::base(x.value); }
  static DIFFSIM_FUNCTION Dual<T, N> constant(const Base& x) {
    return Dual<T, N>::constant(ScalarTraits<T>::constant(x));
  }
  static DIFFSIM_FUNCTION Dual<T, N> scaled(const Dual<T, N>& x, const Base& factor) {
    Dual<T, N> y;
    y.value = ScalarTraits<T>::scaled(x.value, factor);
    for (int i = 0; i < N; ++i) y.derivative[i] = ScalarTraits<T>::scaled(x.derivative[i], factor);
    return y;
  }
};

template <class T>
struct ScalarTraits<PointGradient<T>> {
  using Base = typename ScalarTraits<T>::Base;
  static constexpr int order = ScalarTraits<T>::order + 1;
  static DIFFSIM_FUNCTION Base base(const PointGradient<T>& x) { return ScalarTraits<T>::base(x.value); }
  static DIFFSIM_FUNCTION PointGradient<T> constant(const Base& x) {
    return PointGradient<T>::constant(ScalarTraits<T>::constant(x));
  }
  static DIFFSIM_FUNCTION PointGradient<T> scaled(const PointGradient<T>& x, const Base& factor) {
    return PointGradient<T>::chained(ScalarTraits<T>::scaled(x.value, factor), x, ScalarTraits<T>::constant(factor));
  }
};

/// Returns x with the derivatives of x if x > bound, and 0 with zero derivatives otherwise.
template <class T>
DIFFSIM_FUNCTION T if_positive(const T& x, double bound) {
  using Traits = ScalarTraits<T>;
  return Traits::constant(indicator_greater(Traits::base(x), bound)) * x;
}

}  // namespace diffsim
