// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/device.hpp"

// Loops whose bodies are long. On a host they call the body by one function, whatever its type, so that the loop is
// compiled once for all bodies; a loop whose body is a few operations is better a `Kokkos::parallel_for` of its own.

namespace diffsim {

/// The body of a host's loop.
struct LoopWork {
  const void* body;
  void (*function)(const void* body, int i);
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { function(body, i); }
};
void run_loop(const char* label, int count, const LoopWork& work);

/// Host: one chunk of the work a thread.
void run_chunks(const char* label, int count, const LoopWork& work);

/// The body of a host's loop that adds to a sum.
struct SumWork {
  const void* body;
  void (*function)(const void* body, int i, double& sum);
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum) const { function(body, i, sum); }
};
double run_sum(const char* label, int count, const SumWork& work);

/// body(i) for i in [0, count).
template <class Body>
void for_each_index(const char* label, int count, const Body& body) {
  if constexpr (kernels_on_host)
    run_loop(label, count, {&body, [](const void* of, int i) { (*static_cast<const Body*>(of))(i); }});
  else
    Kokkos::parallel_for(label, Range(0, count), body);
}

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
