// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Rows of one body in datasets with a row for each vertex, or each cell.
///
/// Values of a mesh of several bodies stand in files by body: dataset D of the body NAME is `/bodies/NAME` D, with the
/// body's vertices or cells in its own order. Datasets of a mesh without names have no such group.
struct BodyRows {
  std::string group;             ///< "/bodies/NAME", or empty
  std::size_t body = 0;          ///< the body's place in the mesh's list
  std::int64_t first = 0;        ///< number of the body's first vertex, or cell, in the mesh
  std::int64_t total = 0;        ///< rows of the whole body
  std::size_t begin = 0;         ///< this rank's rows are those from here
  std::size_t end = 0;           ///< to here of its block of the mesh's vertices, or cells
  std::int64_t first_local = 0;  ///< number in the body of the first of these

  std::int64_t num_local() const { return static_cast<std::int64_t>(end - begin); }
};
/// Rows of the places of each body, in the mesh's order of bodies.
std::vector<BodyRows> vertex_rows(const TetrahedralMesh& mesh);
/// Rows of the places of each body and, after these, of its directors, whose group is `directors` in the body's.
std::vector<BodyRows> vertex_and_director_rows(const TetrahedralMesh& mesh);
/// Rows of each body that has cells of that kind.
std::vector<BodyRows> cell_rows(const TetrahedralMesh& mesh, CellKind kind = CellKind::tetrahedron);

/// Calls use(rows, part) for each body with its part of `block`, this rank's block of a dataset of the whole mesh with
/// `width` values a row. Nothing is copied where the mesh is one body without a name.
template <class T, class Use>
void for_each_body(const std::vector<BodyRows>& bodies, const std::vector<T>& block, int width, const Use& use) {
  if (bodies.size() == 1 && bodies[0].group.empty()) return use(bodies[0], block);
  const auto place = [&](std::size_t row) {
    return block.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(width);
  };
  for (const BodyRows& rows : bodies) use(rows, std::vector<T>(place(rows.begin), place(rows.end)));
}

}  // namespace diffsim
