// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/vertices_across.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/even_share.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {
namespace {

/// Side of a cell. `low` and `high` are the lowest and highest vertex of the side. `apex` is the opposite corner of the
/// cell, and `across` is the apex of the other cell with this side. In numbers_across(), `apex` and `across` are
/// instead the values in `numbers` of the cell and of the other cell. `beyond_low` is the vertex across the cell's
/// other side at `low`, and `beyond_high` is the vertex across the cell's other side at `high`.
struct Side {
  std::int64_t low, high, apex, across;
  std::int64_t beyond_low, beyond_high;
  std::int64_t rank, place;  // rank of the cell, and index of the side on that rank
};

/// Returns the sides of this rank's cells: entry i is the side opposite to corners[i]. Sets `across`, `beyond_low` and
/// `beyond_high` of each side to `no_vertex_across`.
std::vector<Side> sides_of(MPI_Comm comm, const std::vector<std::int64_t>& corners, std::size_t width) {
  const int rank = rank_of(comm);
  std::vector<Side> sides;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::size_t first = i / width * width;
    const auto [low, high] = std::minmax(corners[first + (i + 1) % width], corners[first + (i + width - 1) % width]);
    sides.push_back({low, high, corners[i], no_vertex_across, no_vertex_across, no_vertex_across, rank,
                     static_cast<std::int64_t>(i)});
  }
  return sides;
}

/// Groups the sides of all ranks by their vertices, and calls meet(first, end) for each group. The vertices of the mesh
/// are split evenly among the ranks. Each group is gathered on the rank whose part contains the lowest vertex of the
/// group's sides. Returns the sides of this rank's cells, as changed by `meet`. Collective.
template <class Meet>
std::vector<Side> met(MPI_Comm comm, std::vector<Side> sides, std::int64_t num_vertices, const Meet& meet) {
  const EvenShare shares(comm, num_vertices);
  sides = redistribute(comm, sides, [&](const Side& side) { return shares.owner(side.low); });
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.apex, a.rank, a.place) < std::tie(b.low, b.high, b.apex, b.rank, b.place);
  });
  for (auto first = sides.begin(), end = first; first != sides.end(); first = end) {
    end = std::find_if(first, sides.end(),
                       [&](const Side& side) { return side.low != first->low || side.high != first->high; });
    meet(first, end);
  }
  return redistribute(comm, sides, [](const Side& side) { return static_cast<int>(side.rank); });
}

/// Returns, for each side, the apex of the other cell with this side, in the order of `place`. The value is
/// `no_vertex_across` if there is no other cell, and `many_vertices_across` if there are several. Collective.
std::vector<std::int64_t> apexes_across(MPI_Comm comm, std::vector<Side> sides, std::int64_t num_vertices) {
  std::vector<std::int64_t> across(sides.size());
  sides = met(comm, std::move(sides), num_vertices, [](auto first, auto end) {
    if (end == first + 2) {
      first[0].across = first[1].apex;
      first[1].across = first[0].apex;
    } else if (end > first + 2) {
      for (; first != end; ++first) first->across = many_vertices_across;
    }
  });
  for (const Side& side : sides) across[static_cast<std::size_t>(side.place)] = side.across;
  return across;
}

}  // namespace

std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                          std::int64_t num_vertices) {
  return apexes_across(comm, sides_of(comm, corners, static_cast<std::size_t>(num_corners)), num_vertices);
}

std::vector<std::int64_t> numbers_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                         const std::vector<std::int64_t>& numbers, std::int64_t num_vertices) {
  const auto width = static_cast<std::size_t>(num_corners);
  std::vector<Side> sides = sides_of(comm, corners, width);
  for (std::size_t i = 0; i < sides.size(); ++i) sides[i].apex = numbers[i / width];
  return apexes_across(comm, std::move(sides), num_vertices);
}

std::vector<std::int64_t> vertices_beyond(MPI_Comm comm, const std::vector<std::int64_t>& corners,
                                          const std::vector<std::int64_t>& across, std::int64_t num_vertices) {
  std::vector<Side> sides = sides_of(comm, corners, 3);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::size_t first = i / 3 * 3, next = first + (i + 1) % 3, last = first + (i + 2) % 3;
    // Side i has the ends `next` and `last`. The cell's other side at `next` is opposite to `last`, and the cell's
    // other side at `last` is opposite to `next`.
    const bool next_is_low = corners[next] == sides[i].low;
    sides[i].beyond_low = across[next_is_low ? last : next];
    sides[i].beyond_high = across[next_is_low ? next : last];
  }
  sides = met(comm, std::move(sides), num_vertices, [](auto first, auto end) {
    if (end == first + 2) {
      std::swap(first[0].beyond_low, first[1].beyond_low);
      std::swap(first[0].beyond_high, first[1].beyond_high);
    } else {
      for (; first != end; ++first) first->beyond_low = first->beyond_high = no_vertex_across;
    }
  });
  std::vector<std::int64_t> beyond(2 * corners.size());
  for (const Side& side : sides) {
    const auto i = static_cast<std::size_t>(side.place);
    const bool next_is_low = corners[i / 3 * 3 + (i + 1) % 3] == side.low;
    beyond[2 * i] = next_is_low ? side.beyond_low : side.beyond_high;
    beyond[2 * i + 1] = next_is_low ? side.beyond_high : side.beyond_low;
  }
  return beyond;
}

}  // namespace diffsim
