// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "raw_mesh_builder.hpp"

namespace diffsim::vtu {

/// Points and cells of all pieces of a file, one after the other.
struct Grid {
  static constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

  std::vector<double> coordinates;         ///< [points, 3], scaled
  std::vector<std::int64_t> connectivity;  ///< points of all pieces, 0-based
  std::vector<std::int64_t> ends;          ///< [cells], where each cell's points end
  std::vector<std::int64_t> types;         ///< [cells], VTK's numbers
  /// Arrays by name, no_value where a piece lacks the array.
  using Arrays = std::map<std::string, std::vector<std::int64_t>>;
  Arrays cell_arrays;   ///< that may be regions, [cells]
  Arrays point_arrays;  ///< [points]
};

/// Gives the builder the grid's cells and regions; InputError naming the cell.
void choose_cells(const Grid& grid, RawMeshBuilder& builder);

}  // namespace diffsim::vtu
