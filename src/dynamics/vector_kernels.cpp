// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/vector_kernels.hpp"

#include "diffsim/core/impl/device.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim::dynamics {
namespace {

KOKKOS_INLINE_FUNCTION bool is_fixed(const std::uint8_t* fixed, int i) { return (fixed[i / 3] >> (i % 3)) & 1; }

}  // namespace

void add_scaled(int count, double a, const Field& x_field, Field& y_field) {
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::add_scaled", Range(0, count), KOKKOS_LAMBDA(int i) { y[i] += a * x[i]; });
  Kokkos::fence();
}

void copy_values(int count, const Field& x_field, Field& y_field) {
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::copy_values", Range(0, count), KOKKOS_LAMBDA(int i) { y[i] = x[i]; });
  Kokkos::fence();
}

void add_mass_times(int count, double a, const Field& mass, const Field& x_field, Field& y_field) {
  const double* const m = mass.data();
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::add_mass_times", Range(0, count), KOKKOS_LAMBDA(int i) { y[i] += a * m[i / 3] * x[i]; });
  Kokkos::fence();
}

void add_weight(int count, double a, const Field& mass, const double* g, const std::uint8_t* fixed, Field& y_field) {
  const double* const m = mass.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::add_weight", Range(0, count), KOKKOS_LAMBDA(int i) {
        if ((fixed[i / 3] & System::weightless) == 0) y[i] += a * m[i / 3] * g[i % 3];
      });
  Kokkos::fence();
}

void clear_weightless(int count, const std::uint8_t* fixed, Field& y_field) {
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::clear_weightless", Range(0, count), KOKKOS_LAMBDA(int i) {
        if ((fixed[i / 3] & System::weightless) != 0) y[i] = 0.0;
      });
  Kokkos::fence();
}

void add_mass_ratio_times(int count, double a, const Field& change_field, const Field& mass, const Field& x_field,
                          Field& y_field) {
  const double* const dm = change_field.data();
  const double* const m = mass.data();
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::add_mass_ratio_times", Range(0, count),
      KOKKOS_LAMBDA(int i) { y[i] += a * (dm[i / 3] / m[i / 3]) * x[i]; });
  Kokkos::fence();
}

void subtract_products(int count, const Field& mass, const Field& x_field, const Field& w_field, Field& y_field) {
  const double* const m = mass.data();
  const double* const x = x_field.data();
  const double* const w = w_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::subtract_products", Range(0, count),
      KOKKOS_LAMBDA(int i) { y[i] -= x[i] * w[i] / m[i / 3]; });
  Kokkos::fence();
}

void keep_free(int count, const std::uint8_t* fixed, Field& y_field) {
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::keep_free", Range(0, count), KOKKOS_LAMBDA(int i) {
        if (is_fixed(fixed, i)) y[i] = 0.0;
      });
  Kokkos::fence();
}

void keep_fixed(int count, const std::uint8_t* fixed, Field& y_field) {
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::keep_fixed", Range(0, count), KOKKOS_LAMBDA(int i) {
        if (!is_fixed(fixed, i)) y[i] = 0.0;
      });
  Kokkos::fence();
}

void add_fixed(int count, const std::uint8_t* fixed, const Field& x_field, Field& y_field) {
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::add_fixed", Range(0, count), KOKKOS_LAMBDA(int i) {
        if (is_fixed(fixed, i)) y[i] += x[i];
      });
  Kokkos::fence();
}

void copy_fixed(int count, const std::uint8_t* fixed, const Field& x_field, Field& y_field) {
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::copy_fixed", Range(0, count), KOKKOS_LAMBDA(int i) {
        if (is_fixed(fixed, i)) y[i] = x[i];
      });
  Kokkos::fence();
}

double max_size(int count, const Field& x_field) {
  const double* const x = x_field.data();
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::max_size", Range(0, count),
      KOKKOS_LAMBDA(int i, double& m) {
        const double size = x[i] < 0.0 ? -x[i] : x[i];
        if (!(size <= m)) m = size;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

double dot_values(int count, const Field& x_field, const Field& y_field) {
  const double* const x = x_field.data();
  const double* const y = y_field.data();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::dot_values", Range(0, count), KOKKOS_LAMBDA(int i, double& s) { s += x[i] * y[i]; }, sum);
  return sum;
}

}  // namespace diffsim::dynamics
