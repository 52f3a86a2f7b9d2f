// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "mesh/readers/raw_mesh_builder.hpp"

namespace diffsim::vtu {

/// Points and cells of all pieces (XML elements Piece) of a VTU file, concatenated.
struct Grid {
  static constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

  std::vector<double> coordinates;         ///< coordinates of the points in m: [points, 3]
  std::vector<std::int64_t> connectivity;  ///< point numbers of each cell, counted from 0 over all pieces of the file
  std::vector<std::int64_t> ends;          ///< index in `connectivity` after the last point of each cell: [cells]
  std::vector<std::int64_t> types;         ///< VTK cell types: [cells]
  /// Integer arrays by name. If a piece of the file lacks an array, the array's values for the points or cells of this
  /// piece are `no_value`.
  using Arrays = std::map<std::string, std::vector<std::int64_t>>;
  Arrays cell_arrays;   ///< arrays [cells] that can define regions of cells
  Arrays point_arrays;  ///< arrays [points] that can define regions of points
};

/// Passes the cells and regions of a grid to a RawMeshBuilder. Throws InputError for an invalid cell; the message names
/// the cell.
void choose_cells(const Grid& grid, RawMeshBuilder& builder);

}  // namespace diffsim::vtu
