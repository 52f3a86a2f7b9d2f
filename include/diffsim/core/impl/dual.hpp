// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

/// Scalar of automatic differentiation in forward mode: a value and N directional derivatives. The scalar type `T` may
/// itself be a Dual (second derivatives) or a SIMD pack. Source: Griewank & Walther, Evaluating Derivatives (2008), ch.
/// 3.
template <class T, int N>
struct Dual {
  T value;
  T derivative[N];

  Dual() = default;
  DIFFSIM_FUNCTION Dual(double x) : value(x) {  // NOLINT: implicit conversion of a constant
    for (int i = 0; i < N; ++i) derivative[i] = T(0.0);
  }
  /// Returns a Dual whose value is `x`, of the inner scalar type T, and whose derivatives are 0.
  static DIFFSIM_FUNCTION Dual constant(const T& x) {
    Dual a;
    a.value = x;
    for (int i = 0; i < N; ++i) a.derivative[i] = T(0.0);
    return a;
  }
  /// Returns an independent variable with value `x`: derivative i is 1, and all other derivatives are 0.
  static DIFFSIM_FUNCTION Dual variable(const T& x, int i) {
    Dual a = constant(x);
    a.derivative[i] = T(1.0);
    return a;
  }

  DIFFSIM_FUNCTION Dual& operator+=(const Dual& b) { return *this = *this + b; }
  DIFFSIM_FUNCTION Dual& operator-=(const Dual& b) { return *this = *this - b; }
  DIFFSIM_FUNCTION Dual& operator*=(const Dual& b) { return *this = *this * b; }
  DIFFSIM_FUNCTION Dual& operator/=(const Dual& b) { return *this = *this / b; }

  friend DIFFSIM_FUNCTION Dual operator+(const Dual& a, const Dual& b) {
    Dual c;
    c.value = a.value + b.value;
    for (int i = 0; i < N; ++i) c.derivative[i] = a.derivative[i] + b.derivative[i];
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator-(const Dual& a, const Dual& b) {
    Dual c;
    c.value = a.value - b.value;
    for (int i = 0; i < N; ++i) c.derivative[i] = a.derivative[i] - b.derivative[i];
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator-(const Dual& a) {
    Dual c;
    c.value = -a.value;
    for (int i = 0; i < N; ++i) c.derivative[i] = -a.derivative[i];
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator*(const Dual& a, const Dual& b) {
    Dual c;
    c.value = a.value * b.value;
    for (int i = 0; i < N; ++i) c.derivative[i] = a.derivative[i] * b.value + a.value * b.derivative[i];
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator/(const Dual& a, const Dual& b) {
    Dual c;
    const T inverse = T(1.0) / b.value;
    c.value = a.value * inverse;
    for (int i = 0; i < N; ++i) c.derivative[i] = (a.derivative[i] - c.value * b.derivative[i]) * inverse;
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator+(const Dual& a, double b) {
    Dual c = a;
    c.value = a.value + T(b);
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator+(double a, const Dual& b) { return b + a; }
  friend DIFFSIM_FUNCTION Dual operator-(const Dual& a, double b) { return a + (-b); }
  friend DIFFSIM_FUNCTION Dual operator-(double a, const Dual& b) { return -b + a; }
  friend DIFFSIM_FUNCTION Dual operator*(const Dual& a, double b) {
    Dual c;
    c.value = a.value * T(b);
    for (int i = 0; i < N; ++i) c.derivative[i] = a.derivative[i] * T(b);
    return c;
  }
  friend DIFFSIM_FUNCTION Dual operator*(double a, const Dual& b) { return b * a; }
  friend DIFFSIM_FUNCTION Dual operator/(const Dual& a, double b) { return a * (1.0 / b); }
  friend DIFFSIM_FUNCTION Dual operator/(double a, const Dual& b) { return Dual(a) / b; }
};

/// Returns the value of `x` without derivatives, for every type of scalar: a double, a Dual or a Dual of Duals.
DIFFSIM_FUNCTION double value_of(double x) { return x; }
template <class T, int N>
DIFFSIM_FUNCTION double value_of(const Dual<T, N>& x) {
  return value_of(x.value);
}

namespace detail {
/// Returns f(a) and the derivatives of f(a) by the chain rule, where f is a function of one variable. `value`:
/// f(a.value). `slope`: f'(a.value).
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> chain(const Dual<T, N>& a, const T& value, const T& slope) {
  Dual<T, N> c;
  c.value = value;
  for (int i = 0; i < N; ++i) c.derivative[i] = slope * a.derivative[i];
  return c;
}
}  // namespace detail

template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> log(const Dual<T, N>& a) {
  using std::log;
  return detail::chain(a, T(log(a.value)), T(T(1.0) / a.value));
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> exp(const Dual<T, N>& a) {
  using std::exp;
  const T e = exp(a.value);
  return detail::chain(a, e, e);
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> sqrt(const Dual<T, N>& a) {
  using std::sqrt;
  const T root = sqrt(a.value);
  return detail::chain(a, root, T(T(0.5) / root));
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> atan2(const Dual<T, N>& y, const Dual<T, N>& x) {
  using std::atan2;
  const T square = x.value * x.value + y.value * y.value;
  Dual<T, N> angle;
  angle.value = atan2(y.value, x.value);
  for (int i = 0; i < N; ++i) angle.derivative[i] = (x.value * y.derivative[i] - y.value * x.derivative[i]) / square;
  return angle;
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> pow(const Dual<T, N>& a, double p) {
  using std::pow;
  return detail::chain(a, T(pow(a.value, p)), T(T(p) * T(pow(a.value, p - 1.0))));
}

}  // namespace diffsim
