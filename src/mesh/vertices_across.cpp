// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "vertices_across.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "diffsim/core/even_share.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/core/redistribute.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {
namespace {

/// A side of a cell: its first and last vertex, the cell's other corner, and the vertex across the side.
struct Side {
  std::int64_t low, high, apex, across;
  std::int64_t rank, place;  // of the cell, and of the side there
};

}  // namespace

std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                          std::int64_t num_vertices) {
  const int rank = rank_of(comm);
  const auto width = static_cast<std::size_t>(num_corners);
  std::vector<Side> sides;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::size_t first = i / width * width;
    const auto [low, high] = std::minmax(corners[first + (i + 1) % width], corners[first + (i + width - 1) % width]);
    sides.push_back({low, high, corners[i], no_vertex_across, rank, static_cast<std::int64_t>(i)});
  }
  // Sides with the same vertices meet at the even share of the lower one.
  const EvenShare shares(comm, num_vertices);
  sides = redistribute(comm, sides, [&](const Side& side) { return shares.owner(side.low); });
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.apex, a.rank, a.place) < std::tie(b.low, b.high, b.apex, b.rank, b.place);
  });
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    for (end = i + 1; end < sides.size() && sides[end].low == sides[i].low && sides[end].high == sides[i].high;) ++end;
    if (end == i + 2) {
      sides[i].across = sides[i + 1].apex;
      sides[i + 1].across = sides[i].apex;
    } else if (end > i + 2) {
      for (std::size_t k = i; k < end; ++k) sides[k].across = many_vertices_across;
    }
  }
  sides = redistribute(comm, sides, [](const Side& side) { return static_cast<int>(side.rank); });
  std::vector<std::int64_t> across(corners.size());
  for (const Side& side : sides) across[static_cast<std::size_t>(side.place)] = side.across;
  return across;
}

}  // namespace diffsim
