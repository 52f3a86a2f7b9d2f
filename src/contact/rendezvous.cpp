// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/rendezvous.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>

#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::contact {
namespace {

/// Level of the grid that consists of one cell, for boxes that fit no other level.
constexpr int last_level = 63;
/// Bound of the absolute value of a grid cell's index in each direction, on each level of the grids.
constexpr double most_cells = 1 << 30;
/// Offset of the grids from the origin, in cells. Coordinate planes through the origin are often faces or symmetry
/// planes of bodies. Because of the offset, these planes are not boundaries between cells.
constexpr double offset = 0.37;
/// Number of permitted cell sizes per factor of 2. Sizes are rounded to permitted sizes and represented by integers, so
/// that all ranks compute the same cell size.
constexpr int steps_of_octave = 8;

/// Cell of a grid.
struct GridCell {
  std::int32_t level, at[3];

  auto tied() const { return std::tie(level, at[0], at[1], at[2]); }
  bool operator==(const GridCell& other) const { return tied() == other.tied(); }
  bool operator<(const GridCell& other) const { return tied() < other.tied(); }
};

/// Returns the home of a cell: the rank to which all ranks with boxes in the cell send messages. Blocks of 2×2×2 cells
/// have the same home, so that a rank with boxes in several cells often sends messages to one home only. The home is
/// ⌊`ranks` · frac(i/g + j/g² + k/g³ + s)⌋, where frac is the fractional part, s a constant of the level, g⁴ = g + 1,
/// and i, j, k are the cell's indices divided by two and rounded down. Such fractional parts are spread evenly along
/// lines, over planes and in space (Roberts 2018, The Unreasonable Effectiveness of Quasirandom Sequences). Random
/// homes would be spread less evenly: some ranks would be the home of several cells.
int home_of(const GridCell& cell, int ranks) {
  constexpr std::uint64_t steps[3] = {0xd1b54a32d192ed03ull, 0xabc98388fb8fac02ull, 0x8cb92ba72f3d8dd7ull};
  std::uint64_t fraction = static_cast<std::uint64_t>(cell.level) * 0x9e3779b97f4a7c15ull;
  for (int c = 0; c < 3; ++c) fraction += static_cast<std::uint64_t>(std::int64_t{cell.at[c] >> 1}) * steps[c];
  return static_cast<int>((fraction >> 32) * static_cast<std::uint64_t>(ranks) >> 32);
}

bool is_empty(const Box& box) {
  bool some = true;
  for (int c = 0; c < 3; ++c) some = some && box.low[c] <= box.high[c];
  return !some;  // NaN compares false, so a box with NaN is empty
}

double extent_of(const Box& box) {
  return std::max({box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]});
}

/// Grids of this search, identical on all ranks.
class Grids {
 public:
  /// Determines the cell size of the finest grid, and the levels (grids) that at least one box of any rank needs.
  /// Collective.
  Grids(MPI_Comm comm, const std::vector<Box>& boxes) {
    // The cell size must be bitwise identical on all ranks. The cell size is computed from sums of integers, because
    // such sums do not depend on the order of summation.
    std::int64_t sums[2] = {0, 0};
    const double share = 0.5 * std::log2(static_cast<double>(boxes.size()));
    for (const Box& box : boxes) {
      const double size = std::log2(extent_of(box)) + share;
      if (!std::isfinite(size)) continue;
      sums[0] += std::llround(steps_of_octave * size);
      sums[1] += 1;
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm));
    if (sums[1] > 0) {
      const auto mean = static_cast<int>(std::floor(static_cast<double>(sums[0]) / static_cast<double>(sums[1])));
      const int octave = (mean >= 0 ? mean : mean - steps_of_octave + 1) / steps_of_octave;
      size_ = std::ldexp(1.0 + static_cast<double>(mean - octave * steps_of_octave) / steps_of_octave, octave);
    }
    for (const Box& box : boxes) used_ |= std::uint64_t{1} << level_of(box);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &used_, 1, MPI_UINT64_T, MPI_BOR, comm));
  }

  /// Returns true if some rank has a box of `level`.
  bool uses(int level) const { return (used_ >> level & 1) != 0; }

  /// Finest level on which a box touches at most two cells in each direction and the indices of these cells are at most
  /// `most_cells` in absolute value; `last_level` if no other level qualifies.
  int level_of(const Box& box) const {
    double need = extent_of(box);
    for (int c = 0; c < 3; ++c)
      need = std::max({need, std::abs(box.low[c]) / most_cells, std::abs(box.high[c]) / most_cells});
    int level = 0;
    while (level < last_level && !(need <= std::ldexp(size_, level))) ++level;
    return level;
  }

  /// Calls `visit(cell)` for each cell of `level` that a box touches; the level of the box must be at most `level`.
  template <class Visit>
  void for_each_cell(const Box& box, int level, const Visit& visit) const {
    if (level == last_level) return visit(GridCell{level, {0, 0, 0}});
    // Rounding is monotonic, so each point of the box lies in one of the visited cells.
    std::int32_t low[3], high[3];
    for (int c = 0; c < 3; ++c) {
      low[c] = static_cast<std::int32_t>(std::floor(box.low[c] / std::ldexp(size_, level) + offset));
      high[c] = static_cast<std::int32_t>(std::floor(box.high[c] / std::ldexp(size_, level) + offset));
    }
    for (std::int32_t i = low[0]; i <= high[0]; ++i)
      for (std::int32_t j = low[1]; j <= high[1]; ++j)
        for (std::int32_t k = low[2]; k <= high[2]; ++k) visit(GridCell{level, {i, j, k}});
  }

 private:
  double size_ = 1.0;
  std::uint64_t used_ = 0;
};

/// Message to the home of a cell: the bounding box of those boxes of a rank that touch the cell. `exact` is 1 if the
/// level of these boxes is the level of the cell, 0 if the levels of these boxes are lower.
struct Note {
  GridCell cell;
  std::int32_t rank, exact;
  Box box;

  bool operator<(const Note& other) const {
    return std::tuple(cell, box.low[0], rank, exact) <
           std::tuple(other.cell, other.box.low[0], other.rank, other.exact);
  }
};

/// Box of rank `rank`, sent to rank `to`.
struct BoxMessage {
  std::int32_t to, rank;
  Box box;
};
constexpr auto receiver = [](const BoxMessage& message) { return static_cast<int>(message.to); };

std::vector<Note> notes_of(int rank, const std::vector<Box>& boxes, const Grids& grids) {
  std::map<std::pair<GridCell, bool>, Box> around;
  for (const Box& box : boxes) {
    const int own = grids.level_of(box);
    for (int level = own; level <= last_level; ++level)
      if (grids.uses(level))
        grids.for_each_cell(box, level, [&](const GridCell& cell) {
          around.try_emplace({cell, level == own}, box).first->second.include(box);
        });
  }
  std::vector<Note> notes;
  for (const auto& [key, box] : around) notes.push_back({key.first, rank, key.second, box});
  return notes;
}

/// Returns the rank, a or b, that asks the other rank for boxes: the lower rank if a + b is odd, as for adjacent ranks,
/// else the higher rank.
std::int32_t asking(std::int32_t a, std::int32_t b) { return (a + b) % 2 != 0 ? std::min(a, b) : std::max(a, b); }

/// Messages that a home sends to the ranks with boxes in its cells. If the bounding boxes of two ranks overlap in a
/// cell, the asking rank (see `asking`) receives the bounding box of the other rank.
std::vector<BoxMessage> introduce(std::vector<Note> notes) {
  std::sort(notes.begin(), notes.end());
  std::vector<BoxMessage> messages;
  for (std::size_t i = 0; i < notes.size(); ++i)
    for (std::size_t j = i + 1; j < notes.size(); ++j) {
      const Note &a = notes[i], &b = notes[j];
      if (!(b.cell == a.cell) || b.box.low[0] > a.box.high[0]) break;  // all notes after b would fail this test, too
      if (a.rank == b.rank || !(a.exact || b.exact) || !a.box.overlaps(b.box)) continue;
      const bool first_asks = asking(a.rank, b.rank) == a.rank;
      messages.push_back(first_asks ? BoxMessage{a.rank, b.rank, b.box} : BoxMessage{b.rank, a.rank, a.box});
    }
  return messages;
}

/// Returns the boxes of this rank that overlap boxes of other ranks, as messages to those ranks. `met`: boxes of other
/// ranks, sorted by rank.
std::vector<BoxMessage> boxes_for_others(int rank, const std::vector<Box>& boxes, const std::vector<BoxMessage>& met) {
  std::vector<BoxMessage> result;
  for (auto begin = met.begin(); begin != met.end();) {
    const auto end = std::find_if(begin, met.end(), [&](const BoxMessage& other) { return other.rank != begin->rank; });
    for (const Box& box : boxes)
      if (std::any_of(begin, end, [&](const BoxMessage& other) { return box.overlaps(other.box); }))
        result.push_back({begin->rank, rank, box});
    begin = end;
  }
  return result;
}

bool in_order_of_ranks(const BoxMessage& a, const BoxMessage& b) { return a.rank < b.rank; }

/// Distinct values of the member `which` (a rank) of `boxes`; `boxes` must be sorted by this member.
std::vector<int> ranks_of(const std::vector<BoxMessage>& boxes, std::int32_t BoxMessage::*which) {
  std::vector<int> ranks;
  for (const BoxMessage& message : boxes)
    if (ranks.empty() || ranks.back() != message.*which) ranks.push_back(message.*which);
  return ranks;
}

}  // namespace

std::vector<Neighbour> rendezvous(MPI_Comm comm, const std::vector<Box>& boxes) {
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  if (ranks == 1) return {};
  std::vector<Box> mine;
  std::copy_if(boxes.begin(), boxes.end(), std::back_inserter(mine), [](const Box& box) { return !is_empty(box); });
  const Grids grids(comm, mine);
  const std::vector<Note> notes =
      redistribute(comm, notes_of(rank, mine, grids), [&](const Note& note) { return home_of(note.cell, ranks); });
  std::vector<BoxMessage> met = redistribute(comm, introduce(notes), receiver);
  std::stable_sort(met.begin(), met.end(), in_order_of_ranks);
  // The asking rank sends its boxes that overlap the bounding box of the other rank. The other rank answers with its
  // boxes that overlap the boxes sent.
  const std::vector<BoxMessage> questions = boxes_for_others(rank, mine, met);
  std::vector<BoxMessage> found = redistribute(comm, questions, receiver);
  const std::vector<BoxMessage> answers =
      redistribute_among(comm, ranks_of(found, &BoxMessage::rank), ranks_of(questions, &BoxMessage::to),
                         boxes_for_others(rank, mine, found), receiver);
  std::erase_if(found, [&](const BoxMessage& message) {
    return std::none_of(mine.begin(), mine.end(), [&](const Box& box) { return box.overlaps(message.box); });
  });
  found.insert(found.end(), answers.begin(), answers.end());
  std::stable_sort(found.begin(), found.end(), in_order_of_ranks);
  std::vector<Neighbour> neighbours;
  for (const BoxMessage& message : found) {
    if (neighbours.empty() || neighbours.back().rank != message.rank) neighbours.push_back({message.rank, {}});
    neighbours.back().boxes.push_back(message.box);
  }
  return neighbours;
}

}  // namespace diffsim::contact
