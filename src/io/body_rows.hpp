// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Rows of one body in datasets with one row per vertex or per cell.
///
/// In a mesh of several bodies each body has its own datasets. The path of a dataset of the body NAME is `/bodies/NAME`
/// followed by the name of the dataset. The rows are the body's vertices or cells in the body's own order. The datasets
/// of a mesh without named bodies are in the root of the file.
struct BodyRows {
  std::string group;             ///< "/bodies/NAME"; empty if the bodies have no names
  std::size_t body = 0;          ///< index of the body in the mesh's list
  std::int64_t first = 0;        ///< number of the body's first vertex or cell among those of the whole mesh
  std::int64_t total = 0;        ///< number of rows of the whole body
  std::size_t begin = 0;         ///< this rank's rows are [begin, end) of the rank's block of vertices or cells
  std::size_t end = 0;           ///< see `begin`
  std::int64_t first_local = 0;  ///< index of this rank's first row among the body's rows

  std::int64_t num_local() const { return static_cast<std::int64_t>(end - begin); }
};
/// Returns the rows of the vertices of each body, in the order of the mesh's bodies. The directors of rods, which are
/// additional vertices of the mesh, are not included. The rotors of joints (`is_rotor`), all of whose vertices are
/// directors, have no rows.
std::vector<BodyRows> vertex_rows(const TetrahedralMesh& mesh);
/// Returns the rows of the vertices of each body, followed by the rows of the body's directors. The group of the
/// directors is the subgroup `directors` of the body's group.
std::vector<BodyRows> vertex_and_director_rows(const TetrahedralMesh& mesh);
/// Returns the rows of the cells of `kind` for each body that has such cells, except for the rotors of joints.
std::vector<BodyRows> cell_rows(const TetrahedralMesh& mesh, CellKind kind = CellKind::tetrahedron);

/// Calls use(rows, part) for each body. `block`: this rank's values of an array with one row per vertex or cell of the
/// whole mesh and `width` values per row. `part`: the body's rows of `block`. Nothing is copied if the mesh is one body
/// without a name.
template <class T, class Use>
void for_each_body(const std::vector<BodyRows>& bodies, const std::vector<T>& block, int width, const Use& use) {
  if (bodies.size() == 1 && bodies[0].group.empty()) return use(bodies[0], block);
  const auto place = [&](std::size_t row) {
    return block.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(width);
  };
  for (const BodyRows& rows : bodies) use(rows, std::vector<T>(place(rows.begin), place(rows.end)));
}

}  // namespace diffsim
