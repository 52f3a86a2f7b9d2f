// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/slot_sum.hpp"

#include <cstdint>

#include "contact/radix_sort.hpp"

namespace diffsim::contact {
namespace {

/// Sets the keys to the targets, and slots(i) to i.
void set_keys(const DeviceArray<int>& targets, const DeviceArray<std::uint64_t>& keys, const DeviceArray<int>& slots) {
  Kokkos::parallel_for(
      "diffsim::contact::slot_keys", Range(0, static_cast<int>(targets.size())), KOKKOS_LAMBDA(int i) {
        keys(i) = static_cast<std::uint64_t>(targets(i));
        slots(i) = i;
      });
}

/// Adds Σ_j values(slots(j)) over all j with targets(j) = t to entry t of `out`, for t < `entries`. The `targets` are
/// ascending. Entries and values have `width` ≤ 9 components.
void sum_slots(const DeviceArray<std::uint64_t>& targets, const DeviceArray<int>& slots,
               const DeviceArray<double>& values, int entries, int width, double* out) {
  const int size = static_cast<int>(targets.size());
  Kokkos::parallel_for(
      "diffsim::contact::sum_slots", Range(0, size), KOKKOS_LAMBDA(int i) {
        const std::uint64_t target = targets(i);
        // The thread of the first slot of a target sums all slots of the target.
        if (target >= static_cast<std::uint64_t>(entries) || (i > 0 && targets(i - 1) == target)) return;
        double sum[9] = {};
        for (int j = i; j < size && targets(j) == target; ++j)
          for (int c = 0; c < width; ++c) sum[c] += values(static_cast<std::size_t>(width) * slots(j) + c);
        double* const entry = out + static_cast<std::uint64_t>(width) * target;
        for (int c = 0; c < width; ++c) entry[c] += sum[c];
      });
}

}  // namespace

SlotSum::SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool)
    : targets_(pool.take<std::uint64_t>("diffsim::contact::slot_targets", targets.size())),
      slots_(pool.take<int>("diffsim::contact::slots", targets.size())),
      entries_(entries) {
  set_keys(targets, targets_, slots_);
  radix_sort(targets_, slots_, 32, pool);
}

void SlotSum::add(const DeviceArray<double>& values, double* out, int width) const {
  sum_slots(targets_, slots_, values, entries_, width, out);
}

}  // namespace diffsim::contact
