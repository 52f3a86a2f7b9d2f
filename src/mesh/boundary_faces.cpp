// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/boundary_faces.hpp"

#include "diffsim/core/impl/profiling.hpp"
#include "mesh/face_neighbours.hpp"

namespace diffsim {

std::vector<std::pair<int, int>> boundary_faces(MPI_Comm comm, std::span<const int> cells, int nodes_per_cell,
                                                const std::vector<PetscInt>& file_index, std::int64_t num_vertices) {
  const ProfilingRegion region("diffsim::mesh::boundary_faces");
  const auto stride = static_cast<std::size_t>(nodes_per_cell);
  std::vector<PetscInt> corners;
  corners.reserve(cells.size() / stride * 4);
  for (std::size_t first = 0; first < cells.size(); first += stride)
    for (std::size_t a = 0; a < 4; ++a) corners.push_back(file_index[static_cast<std::size_t>(cells[first + a])]);
  const std::vector<PetscInt> neighbours = face_neighbours(comm, corners, num_vertices);
  std::vector<std::pair<int, int>> result;
  for (std::size_t place = 0; place < neighbours.size(); ++place)
    if (neighbours[place] == no_cell) result.emplace_back(static_cast<int>(place / 4), static_cast<int>(place % 4));
  return result;
}

}  // namespace diffsim
