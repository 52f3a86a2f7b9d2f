// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "diffsim/contact/box_tree_impl.hpp"

namespace diffsim::contact {

/// Another rank and boxes of it.
struct Neighbour {
  int rank;
  std::vector<Box> boxes;
};

/// The other ranks' boxes that overlap one of this rank's, by rank and in the order there. Empty boxes (low > high)
/// overlap none; unbounded ones are allowed. Of two ranks each is a neighbour of the other, or neither. Collective.
///
/// Ranks meet at cells of a grid: each tells the home of a cell, a rank that a hash of the cell's place names, the box
/// around what it has there; where boxes of two ranks overlap, the home tells one of these of the other, and that one
/// sends those of its boxes that come into question and gets back those that overlap them. Cells are as large as a
/// rank's share of the surface, the geometric mean over all boxes of extent times √(number of the rank's boxes), so
/// where ranks' shares are alike a rank is in a few cells and there are few ranks in a cell, however many ranks there
/// are. A box that is larger than a cell is told of in a coarser grid, of cells twice, four times, … as large, where
/// all ranks then tell of what they have in those cells; of such grids there are those that some box needs. So a box is
/// in 8 cells of a grid at most. Ranks agree on the grids by two Allreduces of 16 and 8 bytes.
std::vector<Neighbour> rendezvous(MPI_Comm comm, const std::vector<Box>& boxes);

}  // namespace diffsim::contact
