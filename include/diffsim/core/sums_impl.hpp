// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/device.hpp"

// Sums whose bodies are long. On a host the body is called by one function, whatever its type, so that the reduction is
// compiled once for all bodies; one whose body is a few operations is better a `Kokkos::parallel_reduce` of its own.

namespace diffsim {

/// The body of a host's loop that adds to a sum.
struct SumWork {
  const void* body;
  void (*function)(const void* body, int i, double& sum);
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum) const { function(body, i, sum); }
};
double run_sum(const char* label, int count, const SumWork& work);

/// The sum of what body(i, sum) adds for i in [0, count).
template <class Body>
double sum_over(const char* label, int count, const Body& body) {
  double sum = 0.0;
  if constexpr (kernels_on_host)
    sum = run_sum(label, count,
                  {&body, [](const void* of, int i, double& to) { (*static_cast<const Body*>(of))(i, to); }});
  else
    Kokkos::parallel_reduce(label, Range(0, count), body, sum);
  return sum;
}

}  // namespace diffsim
