// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/add_to_entries.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {

void add_to_entries(Field& y, std::size_t first, const std::vector<double>& values) {
  if (first > y.size() || values.size() > y.size() - first)
    throw Error("field '" + y.name() + "' has " + std::to_string(y.size()) + " values, not " +
                std::to_string(values.size()) + " from " + std::to_string(first));
  const DeviceSpan<double> entries(y.data() + first, values.size());
  std::vector<double> sums(values.size());
  const HostSpan<double> host(sums.data(), sums.size());
  Kokkos::deep_copy(host, entries);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  Kokkos::deep_copy(entries, host);
}

}  // namespace diffsim
