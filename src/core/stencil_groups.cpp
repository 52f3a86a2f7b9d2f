// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "diffsim/core/impl/stencil_kernels_impl.hpp"

namespace diffsim::stencil {

Grouped grouped(const std::vector<int>& values) {
  std::vector<int> places(values.size()), distinct, begin;
  std::iota(places.begin(), places.end(), 0);
  const auto value_at = [&](int place) { return values[static_cast<std::size_t>(place)]; };
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return value_at(a) < value_at(b); });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!distinct.empty() && distinct.back() == value_at(places[i])) continue;
    distinct.push_back(value_at(places[i]));
    begin.push_back(static_cast<int>(i));
  }
  begin.push_back(static_cast<int>(places.size()));
  return {to_device("diffsim::core::grouped_value", distinct), to_device("diffsim::core::grouped_begin", begin),
          to_device("diffsim::core::grouped_place", places)};
}

void add_vectors(const Grouped& nodes, const double* vectors, double* y) {
  Kokkos::parallel_for(
      "diffsim::core::stencil_sums", Range(0, static_cast<int>(nodes.value.size())), KOKKOS_LAMBDA(int i) {
        double sum[3] = {};
        for (int s = nodes.begin(i); s < nodes.begin(i + 1); ++s) {
          const double* const vector = vectors + 3 * static_cast<std::ptrdiff_t>(nodes.place(s));
          for (int c = 0; c < 3; ++c) sum[c] += vector[c];
        }
        for (int c = 0; c < 3; ++c) y[3 * static_cast<std::ptrdiff_t>(nodes.value(i)) + c] += sum[c];
      });
  Kokkos::fence();
}

}  // namespace diffsim::stencil
