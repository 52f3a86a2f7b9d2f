// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim::vtu {

/// Points and cells of all pieces of a file, concatenated.
struct Grid {
  static constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

  std::vector<double> coordinates;         ///< [points, 3], scaled to m
  std::vector<std::int64_t> connectivity;  ///< points of the cells, 0-based, numbered over all pieces
  std::vector<std::int64_t> ends;          ///< index in `connectivity` after the last point of each cell: [cells]
  std::vector<std::int64_t> types;         ///< VTK cell types: [cells]
  /// Integer arrays by name. If a piece of the file lacks an array, the values for the points or cells of this piece
  /// are `no_value`.
  using Arrays = std::map<std::string, std::vector<std::int64_t>>;
  Arrays cell_arrays;   ///< arrays that can define regions of cells: [cells]
  Arrays point_arrays;  ///< arrays that can define regions of points: [points]
};

/// Passes the grid's cells and regions to the builder. Throws InputError for an invalid cell; the message names the
/// cell.
void choose_cells(const Grid& grid, RawMeshBuilder& builder);

}  // namespace diffsim::vtu
