// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/macros.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Scalar of automatic differentiation (AD) for functions W of one 3×3 matrix F. The value W is computed from F : F,
/// det F and the entries of F. The derivative is ∂W/∂F = 2 s F + c cof F + D, where s, c and the 3×3 matrix D are the
/// partial derivatives of W with respect to F : F, det F and the entries of F. The array `derivative` contains the nine
/// entries of D, then s, then c. Bit i of the bit mask `parts` is set if element i of `derivative` is structurally
/// non-zero. `parts` depends on the code of the differentiated function alone, not on the value of F. A compiler that
/// inlines the function therefore knows `parts` and generates no code for zero elements of `derivative`, so that the
/// derivatives cost as much as hand-written derivatives.
template <class T>
struct PointGradient {
  static constexpr int by_square = 9, by_determinant = 10, size = 11;
  T value;
  T derivative[size];
  unsigned parts;
  int entry;  // k if the scalar is entry k of F itself, else -1

  PointGradient() = default;
  DIFFSIM_FUNCTION PointGradient(double x) : value(x), parts(0), entry(-1) {}  // NOLINT: implicit, a constant
  static DIFFSIM_FUNCTION PointGradient constant(const T& x) {
    PointGradient a;
    a.set_constant(x);
    return a;
  }
  // Sets this scalar to the constant `x`. A function that returns a scalar would be slower, because compilers do not
  // remove the code that copies all eleven parts of the scalar.
  DIFFSIM_FUNCTION void set_constant(const T& x) {
    value = x;
    parts = 0;
    entry = -1;
  }
  /// Sets this AD scalar to entry k of the matrix F of independent variables, with the value `x`.
  DIFFSIM_FUNCTION void set_variable(const T& x, int k) {
    value = x;
    derivative[k] = T(1.0);
    parts = 1u << k;
    entry = k;
  }
  DIFFSIM_FUNCTION bool has(int i) const { return ((parts >> i) & 1u) != 0; }

  /// Returns an AD scalar with value `x` and derivative p ∂a + q ∂b, where ∂a and ∂b are the derivatives of `a` and
  /// `b`.
  static DIFFSIM_FUNCTION PointGradient combined(const T& x, const PointGradient& a, const T& p, const PointGradient& b,
                                                 const T& q) {
    PointGradient c = constant(x);
    c.parts = a.parts | b.parts;
    combine(a, p, b, q, c);
    return c;
  }
  /// Returns an AD scalar with value `x` and derivative p ∂a, where ∂a is the derivative of `a`.
  static DIFFSIM_FUNCTION PointGradient chained(const T& x, const PointGradient& a, const T& p) {
    PointGradient c = constant(x);
    c.parts = a.parts;
    chain(a, p, c);
    return c;
  }

  DIFFSIM_FUNCTION PointGradient& operator+=(const PointGradient& b) { return *this = *this + b; }
  DIFFSIM_FUNCTION PointGradient& operator-=(const PointGradient& b) { return *this = *this - b; }
  DIFFSIM_FUNCTION PointGradient& operator*=(const PointGradient& b) { return *this = *this * b; }
  DIFFSIM_FUNCTION PointGradient& operator/=(const PointGradient& b) { return *this = *this / b; }

  friend DIFFSIM_FUNCTION PointGradient operator+(const PointGradient& a, const PointGradient& b) {
    PointGradient c = constant(a.value + b.value);
    c.parts = a.parts | b.parts;
    add(a, b, c);
    return c;
  }
  friend DIFFSIM_FUNCTION PointGradient operator-(const PointGradient& a) {
    PointGradient c = constant(-a.value);
    c.parts = a.parts;
    negate(a, c);
    return c;
  }
  friend DIFFSIM_FUNCTION PointGradient operator-(const PointGradient& a, const PointGradient& b) {
    PointGradient c = constant(a.value - b.value);
    c.parts = a.parts | b.parts;
    subtract(a, b, c);
    return c;
  }
  friend DIFFSIM_FUNCTION PointGradient operator*(const PointGradient& a, const PointGradient& b) {
    return combined(a.value * b.value, a, b.value, b, a.value);
  }
  friend DIFFSIM_FUNCTION PointGradient operator/(const PointGradient& a, const PointGradient& b) {
    const T inverse = T(1.0) / b.value;
    const T ratio = a.value * inverse;
    return combined(ratio, a, inverse, b, T(-(ratio * inverse)));
  }
  friend DIFFSIM_FUNCTION PointGradient operator+(const PointGradient& a, double b) {
    PointGradient c = constant(a.value + T(b));
    c.parts = a.parts;
    copy(a, c);
    return c;
  }
  friend DIFFSIM_FUNCTION PointGradient operator+(double a, const PointGradient& b) { return b + a; }
  friend DIFFSIM_FUNCTION PointGradient operator-(const PointGradient& a, double b) { return a + (-b); }
  friend DIFFSIM_FUNCTION PointGradient operator-(double a, const PointGradient& b) { return -b + a; }
  friend DIFFSIM_FUNCTION PointGradient operator*(const PointGradient& a, double b) {
    return chained(a.value * T(b), a, T(b));
  }
  friend DIFFSIM_FUNCTION PointGradient operator*(double a, const PointGradient& b) { return b * a; }
  friend DIFFSIM_FUNCTION PointGradient operator/(const PointGradient& a, double b) { return a * (1.0 / b); }
  friend DIFFSIM_FUNCTION PointGradient operator/(double a, const PointGradient& b) { return PointGradient(a) / b; }

 private:
  // The functions below use recursion over the eleven derivatives instead of loops, because compilers evaluate `parts`
  // at compile time in straight-line code only.
  template <int i = 0>
  static DIFFSIM_FUNCTION void combine(const PointGradient& a, const T& p, const PointGradient& b, const T& q,
                                       PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i) && b.has(i))
        c.derivative[i] = p * a.derivative[i] + q * b.derivative[i];
      else if (a.has(i))
        c.derivative[i] = p * a.derivative[i];
      else if (b.has(i))
        c.derivative[i] = q * b.derivative[i];
      combine<i + 1>(a, p, b, q, c);
    }
  }
  template <int i = 0>
  static DIFFSIM_FUNCTION void copy(const PointGradient& a, PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i)) c.derivative[i] = a.derivative[i];
      copy<i + 1>(a, c);
    }
  }
  template <int i = 0>
  static DIFFSIM_FUNCTION void chain(const PointGradient& a, const T& p, PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i)) c.derivative[i] = p * a.derivative[i];
      chain<i + 1>(a, p, c);
    }
  }
  template <int i = 0>
  static DIFFSIM_FUNCTION void add(const PointGradient& a, const PointGradient& b, PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i) && b.has(i))
        c.derivative[i] = a.derivative[i] + b.derivative[i];
      else if (a.has(i))
        c.derivative[i] = a.derivative[i];
      else if (b.has(i))
        c.derivative[i] = b.derivative[i];
      add<i + 1>(a, b, c);
    }
  }
  template <int i = 0>
  static DIFFSIM_FUNCTION void subtract(const PointGradient& a, const PointGradient& b, PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i) && b.has(i))
        c.derivative[i] = a.derivative[i] - b.derivative[i];
      else if (a.has(i))
        c.derivative[i] = a.derivative[i];
      else if (b.has(i))
        c.derivative[i] = -b.derivative[i];
      subtract<i + 1>(a, b, c);
    }
  }
  template <int i = 0>
  static DIFFSIM_FUNCTION void negate(const PointGradient& a, PointGradient& c) {
    if constexpr (i < size) {
      if (a.has(i)) c.derivative[i] = -a.derivative[i];
      negate<i + 1>(a, c);
    }
  }
};

template <class T>
DIFFSIM_FUNCTION PointGradient<T> log(const PointGradient<T>& a) {
  using std::log;
  return PointGradient<T>::chained(T(log(a.value)), a, T(T(1.0) / a.value));
}
template <class T>
DIFFSIM_FUNCTION PointGradient<T> exp(const PointGradient<T>& a) {
  using std::exp;
  const T e = exp(a.value);
  return PointGradient<T>::chained(e, a, e);
}
template <class T>
DIFFSIM_FUNCTION PointGradient<T> sqrt(const PointGradient<T>& a) {
  using std::sqrt;
  const T root = sqrt(a.value);
  return PointGradient<T>::chained(root, a, T(T(0.5) / root));
}
template <class T>
DIFFSIM_FUNCTION PointGradient<T> pow(const PointGradient<T>& a, double p) {
  using std::pow;
  return PointGradient<T>::chained(T(pow(a.value, p)), a, T(T(p) * T(pow(a.value, p - 1.0))));
}

namespace detail {
template <int k = 0, class T>
DIFFSIM_FUNCTION void set_variables(const Mat3<T>& F, Mat3<PointGradient<T>>& a) {
  if constexpr (k < 9) {
    a(k / 3, k % 3).set_variable(F(k / 3, k % 3), k);
    set_variables<k + 1>(F, a);
  }
}
template <int k = 0, class T>
DIFFSIM_FUNCTION void take_values(const Mat3<PointGradient<T>>& a, Mat3<T>& value) {
  if constexpr (k < 9) {
    value(k / 3, k % 3) = a(k / 3, k % 3).value;
    take_values<k + 1>(a, value);
  }
}
/// Returns true if the matrix `a` is F, the matrix of the independent variables.
template <int k = 0, class T>
DIFFSIM_FUNCTION bool is_variable(const Mat3<PointGradient<T>>& a) {
  if constexpr (k < 9)
    return a(k / 3, k % 3).entry == k && is_variable<k + 1>(a);
  else
    return true;
}
/// Returns an AD scalar with value `x` and derivative Σ_k C_k ∂a_k, where C_k is entry k of the matrix `C`, and ∂a_k is
/// the derivative of entry k of the matrix `a`.
template <int k = 8, class T>
DIFFSIM_FUNCTION PointGradient<T> contracted(const T& x, const Mat3<T>& C, const Mat3<PointGradient<T>>& a) {
  if constexpr (k > 0)
    return PointGradient<T>::combined(x, a(k / 3, k % 3), C(k / 3, k % 3), contracted<k - 1>(x, C, a), T(1.0));
  else
    return PointGradient<T>::chained(x, a(0, 0), C(0, 0));
}
template <int k = 0, class T>
DIFFSIM_FUNCTION void add_entries(const PointGradient<T>& W, Mat3<T>& P) {
  if constexpr (k < 9) {
    if (W.has(k)) P(k / 3, k % 3) = P(k / 3, k % 3) + W.derivative[k];
    add_entries<k + 1>(W, P);
  }
}
template <class T>
DIFFSIM_FUNCTION PointGradient<T> with_part(const T& x, int part) {
  PointGradient<T> a = PointGradient<T>::constant(x);
  a.derivative[part] = T(1.0);
  a.parts = 1u << part;
  return a;
}
}  // namespace detail

/// Returns the AD scalar det A, whose derivative is d(det A) = cof A : dA, for the matrix A = `a`.
template <class T>
DIFFSIM_FUNCTION PointGradient<T> determinant(const Mat3<PointGradient<T>>& a) {
  Mat3<T> value;
  detail::take_values(a, value);
  const Mat3<T> cof = cofactor(value);
  const T det = value(0, 0) * cof(0, 0) + value(0, 1) * cof(0, 1) + value(0, 2) * cof(0, 2);
  if (detail::is_variable(a)) return detail::with_part(det, PointGradient<T>::by_determinant);
  return detail::contracted(det, cof, a);
}

/// Returns the AD scalar A : B, whose derivative is d(A : B) = A : dB + B : dA, for the matrices A = `a` and B = `b`.
template <class T>
DIFFSIM_FUNCTION PointGradient<T> inner(const Mat3<PointGradient<T>>& a, const Mat3<PointGradient<T>>& b) {
  Mat3<T> A, B;
  detail::take_values(a, A);
  detail::take_values(b, B);
  const T x = inner(A, B);
  if (detail::is_variable(a) && detail::is_variable(b)) return detail::with_part(x, PointGradient<T>::by_square);
  if (&a == &b) return detail::contracted(x, A + A, a);
  return detail::contracted(x, B, a) + detail::contracted(T(0.0), A, b);
}

/// Returns the matrix ∂W/∂F, where W is the AD scalar that a function of the 3×3 matrix F has returned.
template <class T>
DIFFSIM_FUNCTION Mat3<T> gradient_of(const PointGradient<T>& W, const Mat3<T>& F) {
  using G = PointGradient<T>;
  Mat3<T> P = Mat3<T>::zero();
  if (W.has(G::by_square) && W.has(G::by_determinant))
    P = (W.derivative[G::by_square] + W.derivative[G::by_square]) * F + W.derivative[G::by_determinant] * cofactor(F);
  else if (W.has(G::by_square))
    P = (W.derivative[G::by_square] + W.derivative[G::by_square]) * F;
  else if (W.has(G::by_determinant))
    P = W.derivative[G::by_determinant] * cofactor(F);
  detail::add_entries(W, P);
  return P;
}

}  // namespace diffsim
