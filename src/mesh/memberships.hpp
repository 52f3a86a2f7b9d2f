// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/file_order.hpp"

namespace diffsim {

/// Sends the region memberships of entities (cells or vertices) from the ranks whose blocks of the file contain the
/// entities to the ranks that have the entities after the partition. Each entity has `places` parts, for example the
/// four faces of a cell, and each part can belong to regions. Part k of entity e has the number `places` · e + k.
///
/// `entries`: pairs (number of a part, region), one for each membership of a part of an entity in this rank's block of
/// the file; entities are numbered by their index in the block. distribute_memberships() calls
/// `visit(number of a part, region)` for each membership of a part of an entity of this rank; entities are numbered by
/// their local number. Memberships are sent in passes; each pass covers 62 / `places` regions and sends one 64-bit word
/// per entity. Within a pass, the calls of `visit` are ordered by entity, then by part of the entity, then by region.
/// Collective.
template <class Visit>
void distribute_memberships(const FileOrder& blocks, int places, std::size_t num_regions,
                            const std::vector<std::pair<std::int64_t, int>>& entries, Visit&& visit) {
  const int regions = 62 / places;  // regions per pass
  for (int first = 0; first < static_cast<int>(num_regions); first += regions) {
    std::vector<std::int64_t> masks(static_cast<std::size_t>(blocks.block_size()), 0);
    for (const auto& [place, region] : entries)
      if (region >= first && region < first + regions)
        masks[static_cast<std::size_t>(place / places)] |= std::int64_t{1}
                                                           << (place % places * regions + region - first);
    const std::vector<std::int64_t> local = blocks.from_file(masks, 1);
    for (std::size_t i = 0; i < local.size(); ++i)
      for (std::uint64_t mask = static_cast<std::uint64_t>(local[i]); mask != 0; mask &= mask - 1) {
        const int bit = __builtin_ctzll(mask);
        visit(places * static_cast<int>(i) + bit / regions, first + bit % regions);
      }
  }
}

}  // namespace diffsim
