// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/device.hpp"

// Sums that are computed by loops with long bodies. On a host, the body of a loop is called through a function pointer,
// so that the reduction is compiled once for all bodies. For a body of a few operations, `Kokkos::parallel_reduce`
// without a function pointer is faster.

namespace diffsim {

/// Type-erased body of a loop on a host; each iteration of the loop adds to a sum.
struct SumWork {
  const void* body;
  void (*function)(const void* body, int i, double& sum);
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum) const { function(body, i, sum); }
};
double run_sum(const char* label, int count, const SumWork& work);

/// Calls `body(i, sum)` for all i in [0, count), and returns the total sum. Each call of `body` must add the
/// contribution of the index i to the argument `sum`.
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
