// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "diffsim/mesh/file_order.hpp"

namespace diffsim {

/// For each local entity, whether it is in each region: 62 regions a 64-bit word, sent from the file's blocks.
/// `entries`: (place in this rank's block, region). `visit(entity, region)` is called for each membership. Collective.
template <class Visit>
void distribute_memberships(const FileOrder& blocks, int places, std::size_t num_regions,
                            const std::vector<std::pair<std::int64_t, int>>& entries, Visit&& visit) {
  constexpr int word = 62;
  for (int first = 0; first < static_cast<int>(num_regions); first += word) {
    std::vector<std::int64_t> masks(static_cast<std::size_t>(blocks.block_size()) * static_cast<std::size_t>(places),
                                    0);
    for (const auto& [place, region] : entries)
      if (region >= first && region < first + word)
        masks[static_cast<std::size_t>(place)] |= std::int64_t{1} << (region - first);
    const std::vector<std::int64_t> local = blocks.from_file(masks, places);
    for (std::size_t i = 0; i < local.size(); ++i)
      for (std::uint64_t mask = static_cast<std::uint64_t>(local[i]); mask != 0; mask &= mask - 1)
        visit(static_cast<int>(i), first + __builtin_ctzll(mask));
  }
}

}  // namespace diffsim
