// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Rows of one body in HDF5 datasets that have one row per vertex or per cell.
///
/// If a mesh has several bodies, each body has its own datasets in the HDF5 file. The path of a dataset of the body
/// NAME is `/bodies/NAME` followed by the name of the dataset. The rows of a body's dataset are the body's vertices or
/// cells, in the order of the body's own numbering. The datasets of a mesh without named bodies are in the root group
/// of the HDF5 file.
struct BodyRows {
  std::string group;  ///< group of the body's datasets, "/bodies/NAME"; "" (the root) for a mesh without named bodies
  std::size_t body = 0;    ///< index of the body in TetrahedralMesh::bodies()
  std::int64_t first = 0;  ///< number of the body's first vertex or cell in the numbering of the whole mesh
  std::int64_t total = 0;  ///< number of rows of a dataset of the body
  /// Index of the body's first row in this rank's block of vertices or cells of the whole mesh; the body has the rows
  /// [`begin`, `end`) of the block.
  std::size_t begin = 0;
  std::size_t end = 0;           ///< see `begin`
  std::int64_t first_local = 0;  ///< index, in a dataset of the body, of this rank's first row

  std::int64_t num_local() const { return static_cast<std::int64_t>(end - begin); }
};
/// Returns the dataset rows of the vertices of each body, in the order of the mesh's bodies. The directors of rods,
/// which are additional vertices of the mesh, are not included. The rotors of joints (`is_rotor`), all of whose
/// vertices are directors, have no rows.
std::vector<BodyRows> vertex_rows(const TetrahedralMesh& mesh);
/// Returns the dataset rows of the vertices of each body, followed by the rows of the body's directors. The HDF5 group
/// of a body's directors is the subgroup `directors` of the body's group `/bodies/NAME`.
std::vector<BodyRows> vertex_and_director_rows(const TetrahedralMesh& mesh);
/// Returns the dataset rows of the cells of the kind `kind` for each body that has cells of this kind, except for the
/// rotors of joints.
std::vector<BodyRows> cell_rows(const TetrahedralMesh& mesh, CellKind kind = CellKind::tetrahedron);

/// Calls the function `use(rows, part)` for each entry `rows` of the list `bodies`, where `part` contains the rows
/// `rows.begin` … `rows.end` - 1 of the array `block`. The array `block` contains this rank's values of an array with
/// one row per vertex or cell of the whole mesh and `width` values per row. If the mesh is one body without a name,
/// for_each_body() passes the array `block` itself to the function `use`, without copying values.
template <class T, class Use>
void for_each_body(const std::vector<BodyRows>& bodies, const std::vector<T>& block, int width, const Use& use) {
  if (bodies.size() == 1 && bodies[0].group.empty()) return use(bodies[0], block);
  const auto place = [&](std::size_t row) {
    return block.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(width);
  };
  for (const BodyRows& rows : bodies) use(rows, std::vector<T>(place(rows.begin), place(rows.end)));
}

}  // namespace diffsim
