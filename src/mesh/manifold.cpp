// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/manifold.hpp"

#include <algorithm>
#include <cstdint>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

void require_manifold(const TetrahedralMesh& mesh, CellKind kind, const std::vector<int>& cells,
                      const std::string& what, const std::string& parameter) {
  const LowerCellSet& all = mesh.lower_cells(kind);
  const auto corners = static_cast<std::size_t>(corners_of(kind));
  const std::int64_t none = mesh.num_global(kind);
  std::int64_t first = none;  // lowest file number of a cell with a side that two or more other cells share
  for (const int cell : cells)
    for (std::size_t side = 0; side < corners; ++side)
      if (all.across[corners * static_cast<std::size_t>(cell) + side] == many_vertices_across)
        first = std::min<std::int64_t>(first, all.order->file_index()[static_cast<std::size_t>(cell)]);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, mesh.comm()));
  if (first == none) return;
  const std::string side = kind == CellKind::segment ? "end" : "side", cells_name = name_of(kind);
  throw Error(std::string(singular_of(kind)) + " " + cell_name(mesh.bodies(), first, kind) + " has " +
                  (kind == CellKind::segment ? "an " : "a ") + side + " that two other " + cells_name + " also have; " +
                  what + " needs " + side + "s of two " + cells_name + " at most: remove one" +
                  (parameter.empty() ? "" : ", or leave " + parameter + " out"),
              ErrorKind::input);
}

}  // namespace diffsim
