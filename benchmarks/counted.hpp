// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/small_tensor.hpp"
#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// A number that counts what is done to it: additions, multiplications, divisions one each; roots, logarithms, … one
/// each too.
struct Counted {
  double value = 0.0;
  static inline long operations = 0;

  Counted() = default;
  Counted(double x) : value(x) {}  // NOLINT: a number is a number
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
/// Work that laws do lane by lane counts as one operation. Laws are included after this file, for their templates to
/// find it.
template <class Function>
Counted by_lane(Counted x, Function function) {
  return Counted::result(function(x.value));
}
}  // namespace detail

/// How many operations kernel(F, moduli) does at a deformed F.
template <class L, class Kernel>
long operations_of(const Kernel& kernel) {
  Mat3<Counted> F;
  for (int k = 0; k < 9; ++k) F(k / 3, k % 3) = k % 4 == 0 ? 1.1 : 0.05 * k;
  Counted moduli[L::num_moduli];
  for (int k = 0; k < L::num_moduli; ++k) moduli[k] = 1.0 + 0.1 * k;  // none vanishes
  Counted::operations = 0;
  kernel(F, moduli);
  return Counted::operations;
}

/// Operations of a linear tetrahedron's force: Ds, F = Ds Dm⁻¹, P by the law, V P Dm⁻ᵀ, corner values, additions to
/// vertices.
template <class L>
long force_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { stress_of<L>(F, moduli); }) + 9 + 45 + 45 + 9 + 9 +
         12;
}

/// Operations of a cell's energy: Ds, F, W, V W.
template <class L>
long energy_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { L::energy(F, moduli); }) + 9 + 45 + 2;
}

/// Operations of a cell's tangent product: two gradients, dP.
template <class L>
long tangent_operations() {
  return operations_of<L>([](const auto& F, const auto& moduli) { stress_tangent_of<L>(F, F, moduli); }) +
         2 * (9 + 45) + 45 + 9 + 9 + 12;
}

}  // namespace diffsim
