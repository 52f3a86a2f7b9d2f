// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Scalar type that counts floating-point operations. Each addition, multiplication, division, root, logarithm, …
/// counts as one operation.
struct Counted {
  double value = 0.0;
  static inline long operations = 0;

  Counted() = default;
  Counted(double x) : value(x) {}  // NOLINT: implicit, like conversions between arithmetic types
  static Counted result(double x) {
    ++operations;
    return {x};
  }
  friend Counted operator+(Counted a, Counted b) { return result(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return result(a.value - b.value); }
  friend Counted operator-(Counted a) { return result(-a.value); }
  friend Counted operator*(Counted a, Counted b) { return result(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return result(a.value / b.value); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  Counted& operator/=(Counted b) { return *this = *this / b; }
};
inline Counted abs(Counted a) { return Counted::result(std::abs(a.value)); }
inline Counted cbrt(Counted a) { return Counted::result(std::cbrt(a.value)); }
inline Counted copysign(Counted a, Counted b) { return Counted::result(std::copysign(a.value, b.value)); }
inline bool any_not_greater(Counted a, double bound) { return !(a.value > bound); }
inline Counted indicator_greater(Counted a, double bound) { return Counted::result(a.value > bound ? 1.0 : 0.0); }
inline Counted log(Counted a) { return Counted::result(std::log(a.value)); }
inline Counted exp(Counted a) { return Counted::result(std::exp(a.value)); }
inline Counted sqrt(Counted a) { return Counted::result(std::sqrt(a.value)); }

namespace detail {
/// Overload of `by_lane`, by which laws evaluate a function in each lane of a SIMD pack. Each call counts as one
/// operation. The headers of laws must be included after this file, so that their templates find this overload.
template <class Function>
Counted by_lane(Counted x, Function function) {
  return Counted::result(function(x.value));
}
}  // namespace detail

/// Returns the number of operations of kernel(F, moduli) for an F that is not the identity.
template <class L, class Kernel>
long operations_of(const Kernel& kernel) {
  Mat3<Counted> F;
  for (int k = 0; k < 9; ++k) F(k / 3, k % 3) = k % 4 == 0 ? 1.1 : 0.05 * k;
  Counted moduli[L::num_moduli];
  for (int k = 0; k < L::num_moduli; ++k) moduli[k] = 1.0 + 0.1 * k;  // no modulus is zero
  Counted::operations = 0;
  kernel(F, moduli);
  return Counted::operations;
}

/// Returns the number of operations of the force of a linear tetrahedron: Ds, F = Ds Dm⁻¹, the stress P of the law, V P
/// Dm⁻ᵀ, the forces of the corners, and the additions to the vertices.
template <class L>
long force_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { stress_of<L>(F, moduli); }) + 9 + 45 + 45 + 9 + 9 +
         12;
}

/// Returns the number of operations of the energy of a linear tetrahedron: Ds, F, W, V W.
template <class L>
long energy_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { L::energy(F, moduli); }) + 9 + 45 + 2;
}

/// Returns the number of operations of the product of the tangent of a linear tetrahedron with a vector: F, dF and dP,
/// then the operations of the force after P.
template <class L>
long tangent_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { stress_tangent_of<L>(F, F, moduli); }) +
         2 * (9 + 45) + 45 + 9 + 9 + 12;
}

}  // namespace diffsim
