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

/// Finds the boxes of other ranks that overlap a box of this rank. Neighbours are sorted by rank; the boxes of a
/// neighbour are in the order in which the neighbour passed them. Empty boxes (low > high) overlap no box; unbounded
/// boxes are allowed. If rank a is a neighbour of rank b, then b is a neighbour of a. Collective.
///
/// Ranks find each other through the cells of a grid. Each cell has a home, a rank chosen by a hash of the cell's
/// indices. For each cell that boxes of a rank overlap, the rank sends the bounding box of these boxes to the home of
/// the cell. If the bounding boxes of two ranks a and b in a cell overlap, the home either sends the bounding box of a
/// to b, or sends the bounding box of b to a. If b receives the bounding box of a, b sends to a those boxes of b that
/// overlap this bounding box. Rank b then receives the boxes of a that overlap the boxes sent.
///
/// The cell size is the mean size of the parts of the surface that the ranks own: the geometric mean, over all boxes of
/// all ranks, of the product (extent of the box) · √(number of boxes of the box's rank). If the parts of all ranks are
/// of similar size, a rank has boxes in few cells, and few ranks have boxes in a cell, regardless of the number of
/// ranks. A box that is larger than a cell is sent to the homes of a coarser grid, whose cells are 2, 4, … times as
/// large. All ranks then send their boxes to the homes of the coarser grid, too. A coarser grid is used only if at
/// least one box of any rank requires cells of this size. A box touches at most 8 cells of a grid. The ranks agree on
/// the grids by two Allreduces of 16 and 8 bytes.
std::vector<Neighbour> rendezvous(MPI_Comm comm, const std::vector<Box>& boxes);

}  // namespace diffsim::contact
