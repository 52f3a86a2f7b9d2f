// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "contact/box_tree_impl.hpp"

namespace diffsim::contact {

/// Another rank with boxes that overlap a box of the calling rank, and these boxes.
struct Neighbour {
  int rank;
  std::vector<Box> boxes;
};

/// Finds the boxes of other ranks that overlap a box of this rank. The returned neighbours (ranks with overlapping
/// boxes) are sorted by rank; the boxes of a neighbour are in the order in which the neighbour passed the boxes. Empty
/// boxes (low > high) overlap no box; unbounded boxes are allowed. If rank a is a neighbour of rank b, then b is a
/// neighbour of a. Collective.
///
/// Ranks with overlapping boxes find each other through the cells of a grid. Each grid cell is assigned to a rank,
/// selected by a hash of the cell's indices. For each grid cell that boxes of a rank overlap, the rank sends the
/// bounding box of these boxes to the rank to which the cell is assigned. If the bounding boxes of two ranks a and b in
/// a grid cell overlap, the rank to which the cell is assigned sends either the bounding box of a to b, or the bounding
/// box of b to a. If rank b receives the bounding box of rank a, b sends to a those boxes of b that overlap this
/// bounding box, and a then sends to b those boxes of a that overlap the boxes received from b.
///
/// The cell size of the finest grid approximates the mean extent of the part of a surface that the boxes of one rank
/// cover. The cell size is the geometric mean, over all boxes of all ranks, of the product (extent of the box) ·
/// √(number of boxes of the box's rank). If the boxes of all ranks cover parts of similar extent, a rank has boxes in
/// few cells, and few ranks have boxes in the same cell, regardless of the number of ranks. Boxes that are larger than
/// a cell of the finest grid use the cells of a coarser grid, whose cells are 2, 4, … times as large; all ranks then
/// use the coarser grid also for their boxes of finer grids. A coarser grid is used only if at least one box of any
/// rank requires cells of this size. A box touches at most 8 cells of a grid. The ranks agree on the grids by two
/// Allreduces of 16 and 8 bytes.
std::vector<Neighbour> rendezvous(MPI_Comm comm, const std::vector<Box>& boxes);

}  // namespace diffsim::contact
